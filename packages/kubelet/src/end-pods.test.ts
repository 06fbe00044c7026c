/** `Kubelet.endPods` terminates every pod, whatever its state, on an in-memory runtime. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Pod } from '@podwright/kube-api';
import { type FakeKubelet, startFakeKubelet } from './fake-kubelet.fixture.ts';

const LONG_MS = 60_000;

const podNamed = (name: string, { uid = '', spec = '' } = {}) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}${uid && `, uid: ${uid}`}}
spec:
  terminationGracePeriodSeconds: 1
  ${spec}
  containers:
  - {name: app, image: 'busybox:1'}
`;
const web = podNamed('web');
const changed = web.replace('metadata: {', 'metadata: {labels: {version: "2"}, ');

const isRunning = (pod: Pod) => pod.status?.phase === 'Running';

async function start(context: TestContext, options: Parameters<typeof startFakeKubelet>[0] = {}): Promise<FakeKubelet> {
  const kubelet = await startFakeKubelet({ manifest: web, ...options });
  context.after(() => kubelet.close());
  return kubelet;
}

const countOf = (kubelet: FakeKubelet, method: string) =>
  kubelet.runtime.calls.filter((call) => call.method === method).length;

const until = (kubelet: FakeKubelet, method: string) =>
  kubelet.until(method, () => kubelet.runtime.calls.some((call) => call.method === method));

/** Asserts that no pods are left in the container runtime, and that none start afterwards. */
async function assertEnded(kubelet: FakeKubelet, ended: Promise<boolean>): Promise<void> {
  assert.equal(await ended, true);
  const started = countOf(kubelet, 'runPodSandbox');
  await kubelet.handle.close();
  assert.deepEqual([kubelet.runtime.containers, kubelet.runtime.sandboxes], [[], []]);
  assert.equal(countOf(kubelet, 'runPodSandbox'), started);
}

/** A running pod whose containers do not exit during the test unless they are killed. */
async function stubborn(context: TestContext): Promise<FakeKubelet> {
  const kubelet = await start(context);
  await kubelet.pod('web', isRunning);
  kubelet.runtime.inject('stopContainer', { delayMs: LONG_MS, times: 1 });
  return kubelet;
}

test('a pod that is being replaced ends, and its successor does not start', async (context) => {
  const kubelet = await start(context);
  await kubelet.pod('web', isRunning);
  kubelet.runtime.inject('stopContainer', { delayMs: 50, times: 1 });
  kubelet.apply(changed);
  await until(kubelet, 'stopContainer');
  await assertEnded(kubelet, kubelet.handle.endPods({ ofApi: false }));
  assert.equal(countOf(kubelet, 'runPodSandbox'), 1);
});

for (const [what, manifest] of [
  ['replaced', changed],
  ['removed', ''],
] as const)
  test(`a pod that is being ${what} is killed with a grace period of 0`, async (context) => {
    const kubelet = await stubborn(context);
    kubelet.apply(manifest);
    await until(kubelet, 'stopContainer');
    await assertEnded(kubelet, kubelet.handle.endPods({ ofApi: false, gracePeriodSeconds: 0 }));
  });

test('a second call kills the pods being ended by the first, even one being replaced', async (context) => {
  const kubelet = await stubborn(context);
  kubelet.apply(changed);
  await until(kubelet, 'stopContainer');
  const first = kubelet.handle.endPods({ ofApi: false });
  assert.equal(await kubelet.handle.endPods({ ofApi: false, gracePeriodSeconds: 0 }), true);
  await assertEnded(kubelet, first);
});

test('a deleted pod that returns to its source ends, and is not recreated', async (context) => {
  const kept = podNamed('web', { uid: 'mine' });
  const kubelet = await start(context, { manifest: kept });
  await kubelet.pod('web', isRunning);
  kubelet.runtime.inject('stopContainer', { delayMs: 50, times: 1 });
  kubelet.apply('');
  await until(kubelet, 'stopContainer');
  kubelet.apply(kept);
  await assertEnded(kubelet, kubelet.handle.endPods({ ofApi: false }));
  assert.equal(countOf(kubelet, 'runPodSandbox'), 1);
});

test('a critical pod waiting for a preempted one does not start', async (context) => {
  const critical = podNamed('critical', { spec: 'priorityClassName: system-node-critical' });
  const plain = podNamed('plain');
  const kubelet = await start(context, { manifest: plain, maxPods: 1 });
  await kubelet.pod('plain', isRunning);
  kubelet.runtime.inject('stopContainer', { delayMs: 50, times: 1 });
  kubelet.apply(`${plain}---${critical}`);
  await until(kubelet, 'stopContainer');
  await assertEnded(kubelet, kubelet.handle.endPods({ ofApi: false }));
  assert.equal(countOf(kubelet, 'runPodSandbox'), 1);
});

test('a pod whose sandbox is being created ends', async (context) => {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  runtime.inject('runPodSandbox', { delayMs: LONG_MS, times: 1 });
  const kubelet = await start(context, { runtime });
  await until(kubelet, 'runPodSandbox');
  await assertEnded(kubelet, kubelet.handle.endPods({ ofApi: false }));
});

test('an orphan in the runtime ends', async (context) => {
  const kubelet = await start(context, { untilReady: false });
  await kubelet.pod('web', isRunning);
  kubelet.runtime.inject('stopContainer', { delayMs: 50, times: 1 });
  await kubelet.handle.close();
  kubelet.apply('');
  await kubelet.restart();
  await assertEnded(kubelet, kubelet.handle.endPods({ ofApi: false }));
});

test('a running pod whose manifest has become invalid ends', async (context) => {
  const manifestDir = mkdtempSync(join(tmpdir(), 'pwk-end-'));
  context.after(() => rmSync(manifestDir, { recursive: true }));
  writeFileSync(join(manifestDir, 'web.yaml'), web);
  const kubelet = await start(context, { manifestDir, readsDirectory: true });
  await kubelet.pod('web', isRunning);
  await kubelet.handle.close();
  writeFileSync(join(manifestDir, 'web.yaml'), 'kind: [');
  await kubelet.restart();
  assert.equal(kubelet.runtime.sandboxes.length, 1, 'the pod keeps running');
  await assertEnded(kubelet, kubelet.handle.endPods({ ofApi: false }));
});

test('a pod that ended on its own does not run again after two calls and a restart', async (context) => {
  const manifest = `${podNamed('once', { spec: 'restartPolicy: Never' })}---${web}`;
  const kubelet = await start(context, { manifest });
  await kubelet.pod('web', isRunning);
  const { metadata } = await kubelet.pod('once', isRunning);
  const ofOnce = kubelet.runtime.containers.find(({ config }) => config.labels['io.kubernetes.pod.name'] === 'once')!;
  kubelet.runtime.exitContainer(ofOnce.id, { exitCode: 0 });
  await kubelet.pod('once', ({ status }) => status?.phase === 'Succeeded');
  kubelet.runtime.inject('stopContainer', { delayMs: LONG_MS, times: 1 });
  const first = kubelet.handle.endPods({ ofApi: false });
  await kubelet.until('the ended pod is removed', () => kubelet.handle.podOfUid(metadata.uid) === undefined);
  await kubelet.handle.endPods({ ofApi: false, gracePeriodSeconds: 0 });
  await assertEnded(kubelet, first);
  const started = countOf(kubelet, 'runPodSandbox');
  await kubelet.restart();
  await kubelet.pod('web', isRunning);
  await kubelet.pod('once', ({ status }) => status?.phase === 'Succeeded');
  assert.equal(countOf(kubelet, 'runPodSandbox'), started + 1);
});
