/** The startup order of the kubelet, and the cleanup after a failed start. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError, Registry, silentLogger, startGraph, waitFor, withTimeout } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import { assertNothingLeft, failingAfter, openResources } from '../../base/src/start-graph.fixture.ts';
import { writeDeviceRecords } from '../../placement/src/devices/device-checkpoint.ts';
import { FakePlugin } from '../../placement/src/devices/fake-plugin.fixture.ts';
import { fakeApi } from './api-pods/api-pods.fixture.ts';
import { type KubeletGraph, kubeletGraph } from './assembly/kubelet-graph.ts';
import { type KubeletOptions, kubeletOptions } from './options.ts';
import { startKubelet } from './start-kubelet.ts';

const WIDGET = 'example.com/widget';

function newNode(t: TestContext) {
  const rootDir = mkdtempSync(join(tmpdir(), 'pwk-start-'));
  t.after(() => rmSync(rootDir, { recursive: true }));
  const problems: string[] = [];
  const options = newOptions(rootDir, problems);
  const plugins = join(rootDir, 'device-plugins');
  mkdirSync(options.manifestDir);
  return { options, plugins, socket: join(plugins, 'kubelet.sock'), problems };
}

function newOptions(rootDir: string, problems: string[]): KubeletOptions {
  const note = (_: object, message: string) => void problems.push(message);
  return kubeletOptions({
    manifestDir: join(rootDir, 'manifests'),
    runtimeEndpoint: '/none',
    nodeName: 'node',
    logger: { ...silentLogger, warn: note, error: note },
    rootDir,
    podLogsDir: join(rootDir, 'logs'),
    cgroupRoot: '',
    nodeIp: '192.0.2.1',
  });
}

test('a failed start releases all resources, and the next start succeeds', async (t) => {
  const { options, socket, problems } = newNode(t);
  const before = openResources();
  const runtime = new FakeRuntime();
  runtime.inject('listPodSandbox', { error: new PodwrightError('internal', 'no listing') });
  await assert.rejects(startKubelet(options, { cri: runtime.client }), /no listing/);
  await assertNothingLeft(options.rootDir, before);
  const kubelet = await startKubelet(options, { cri: new FakeRuntime().client });
  assert.ok(existsSync(socket));
  assert.deepEqual(problems, []);
  await kubelet.close();
  assert.equal(existsSync(socket), false);
});

const PARTS = Object.keys(kubeletGraph({ options: newOptions('/none', []), given: {}, runtimeWait: undefined }));

for (const name of PARTS) {
  for (const kind of ['a standalone node', 'a cluster node'] as const) {
    test(`a start of ${kind} whose part ${name} fails releases all resources`, async (t) => {
      const { options, problems } = newNode(t);
      const api = fakeApi();
      const own =
        kind === 'a standalone node' ? {} : { cluster: { client: api, heartbeatClient: api, eventClient: api } };
      const before = openResources();
      const given = { cri: new FakeRuntime().client };
      const all = { ...options, ...own, metrics: new Registry() };
      const graph = kubeletGraph({ options: all, given, runtimeWait: undefined });
      const started = startGraph(failingAfter(graph, name as keyof KubeletGraph), (failures) =>
        assert.deepEqual(failures, []),
      );
      await assert.rejects(started, { message: `${name} fails` });
      await assertNothingLeft(options.rootDir, before);
      assert.equal(api.watches.size, 0);
      // ignore the missing address: a cluster node registers without waiting for one, and the test's address is not this host's
      const others = problems.filter((problem) => problem !== 'the node has no address');
      assert.deepEqual(others, []);
    });
  }
}

test('device plugins can register only after the pods with their devices have been synced', async (t) => {
  const { options, plugins, socket, problems } = newNode(t);
  const plugin = new FakePlugin(plugins, WIDGET, { devices: [{ id: 'd1', isHealthy: false }] });
  t.after(() => plugin.stop());
  const devices = { '-1': ['d1'] };
  const assignments = [{ podUid: 'u1', container: 'a', resource: WIDGET, devices, answer: new Uint8Array() }];
  await writeDeviceRecords(join(plugins, 'kubelet_internal_checkpoint'), { assignments, registered: {} });
  const { client } = new FakeRuntime();
  let isEarly: boolean | undefined;
  // check the socket during `runtimeConfig`, which is the kubelet's last CRI call before it syncs pods
  const runtimeConfig: typeof client.runtime.runtimeConfig = (...call) => {
    isEarly = existsSync(socket);
    return client.runtime.runtimeConfig(...call);
  };
  const kubelet = await startKubelet(options, { cri: { ...client, runtime: { ...client.runtime, runtimeConfig } } });
  t.after(() => kubelet.close());
  assert.equal(isEarly, false);
  await plugin.start();
  using signal = withTimeout(undefined, 10_000, 'show the devices');
  await waitFor(() => kubelet.node().status.capacity[WIDGET] === '1' || undefined, { intervalMs: 5, signal });
  assert.deepEqual(problems, []);
});
