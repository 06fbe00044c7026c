/** What a kubelet has begun when its start fails, or when somebody is there before it is ready for them. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger, waitFor, withTimeout } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import { writeDeviceRecords } from '../../placement/src/devices/device-checkpoint.ts';
import { FakePlugin } from '../../placement/src/devices/fake-plugin.fixture.ts';
import { kubeletOptions } from './options.ts';
import { startKubelet } from './start-kubelet.ts';

const WIDGET = 'example.com/widget';

function newNode(t: TestContext) {
  const rootDir = mkdtempSync(join(tmpdir(), 'pwk-start-'));
  t.after(() => rmSync(rootDir, { recursive: true }));
  const problems: string[] = [];
  const note = (_: object, message: string) => void problems.push(message);
  const options = kubeletOptions({
    manifestDir: join(rootDir, 'manifests'),
    runtimeEndpoint: '/none',
    nodeName: 'node',
    logger: { ...silentLogger, warn: note, error: note },
    rootDir,
    podLogsDir: join(rootDir, 'logs'),
    cgroupRoot: '',
    nodeIp: '192.0.2.1',
  });
  const plugins = join(rootDir, 'device-plugins');
  return { options, plugins, socket: join(plugins, 'kubelet.sock'), problems };
}

test('a start that fails leaves nothing running', async (t) => {
  const { options, socket, problems } = newNode(t);
  const before = activeHandles();
  const runtime = new FakeRuntime();
  runtime.inject('listPodSandbox', { error: new PodwrightError('internal', 'no listing') });
  await assert.rejects(startKubelet(options, { cri: runtime.client }), /no listing/);
  assert.equal(existsSync(socket), false);
  using signal = withTimeout(undefined, 10_000, 'end everything'); // one timer more
  await waitFor(() => activeHandles() <= before + 1 || undefined, { intervalMs: 10, signal });
  const kubelet = await startKubelet(options, { cri: new FakeRuntime().client });
  assert.ok(existsSync(socket));
  assert.deepEqual(problems, []);
  await kubelet.close();
  assert.equal(existsSync(socket), false);
});

/** Servers, sockets, watches and timers that keep the process alive. */
const activeHandles = () => process.getActiveResourcesInfo().filter((kind) => !kind.startsWith('FSReq')).length;

test('a device plugin can register once the pods that have its devices are synced, and not before', async (t) => {
  const { options, plugins, socket, problems } = newNode(t);
  const plugin = new FakePlugin(plugins, WIDGET, { devices: [{ id: 'd1', isHealthy: false }] });
  t.after(() => plugin.stop());
  const devices = { '-1': ['d1'] };
  const assignments = [{ podUid: 'u1', container: 'a', resource: WIDGET, devices, answer: new Uint8Array() }];
  await writeDeviceRecords(join(plugins, 'kubelet_internal_checkpoint'), { assignments, registered: {} });
  const { client } = new FakeRuntime();
  let isEarly: boolean | undefined;
  // the last call before pods are synced
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
