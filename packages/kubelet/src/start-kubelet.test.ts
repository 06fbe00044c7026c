import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { ContainerState } from '@podwright/cri';
import { type CriMethod, FakeRuntime } from '@podwright/cri/testing';
import type { Pod } from '@podwright/kube-api';
import { type FakeKubelet, startFakeKubelet } from './fake-kubelet.fixture.ts';

const web = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: app, image: 'busybox:1'}
`;

async function start(context: TestContext, options: Parameters<typeof startFakeKubelet>[0] = {}): Promise<FakeKubelet> {
  const kubelet = await startFakeKubelet({ manifest: web, ...options });
  context.after(() => kubelet.close());
  return kubelet;
}

const isRunning = (pod: Pod) => pod.status?.phase === 'Running';
const waits = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state.waiting?.reason;
const countOf = (kubelet: FakeKubelet, method: CriMethod) =>
  kubelet.runtime.calls.filter((call) => call.method === method).length;
const unavailable = new PodwrightError('unavailable', 'the runtime is away');

test('a pod in a manifest runs, and is removed with the manifest', async (context) => {
  const kubelet = await start(context);
  const pod = await kubelet.pod('web', isRunning);
  assert.equal(kubelet.mounted.has(pod.metadata.uid), true);
  assert.deepEqual(kubelet.reasons('web'), ['Pulled', 'Created', 'Started']);
  kubelet.apply('');
  await kubelet.until('the pod is gone', () => kubelet.handle.pods().length === 0);
  assert.deepEqual([kubelet.runtime.containers, kubelet.runtime.sandboxes], [[], []]);
  assert.equal(kubelet.mounted.size, 0);
});

test('a failed sandbox creation is retried', async (context) => {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  runtime.inject('runPodSandbox', { error: unavailable, times: 2 });
  const kubelet = await start(context, { runtime });
  await kubelet.pod('web', isRunning);
  assert.equal(countOf(kubelet, 'runPodSandbox'), 3);
  assert.ok(kubelet.reasons('web').includes('FailedCreatePodSandBox'));
});

test('a sandbox is reused and not created twice if the response to its creation was lost', async (context) => {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  runtime.inject('runPodSandbox', { error: unavailable, when: 'after', times: 1 });
  const kubelet = await start(context, { runtime });
  await kubelet.pod('web', isRunning);
  assert.equal(kubelet.runtime.sandboxes.length, 1);
});

test('a container whose creation failed waits with the reason and is retried', async (context) => {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  runtime.inject('createContainer', { error: unavailable, times: 1 });
  const kubelet = await start(context, { runtime });
  await kubelet.pod('web', (pod) => waits(pod) === 'CreateContainerError');
  await kubelet.pod('web', isRunning);
});

test('an image that cannot be pulled backs off, and is pulled once it is in the registry', async (context) => {
  let there = false;
  const runtime = new FakeRuntime({ inRegistry: () => there });
  const images = { serializePulls: false, maxParallelPulls: 0, registryPullQps: 0, registryBurst: 0 };
  const kubelet = await start(context, {
    runtime,
    images: {
      ...images,
      pullBackoff: { initialMs: 150, maxMs: 300 },
      dockerConfigPaths: [],
      verification: { kind: 'NeverVerify' },
    },
  });
  await kubelet.pod('web', (pod) => waits(pod) === 'ErrImagePull');
  await kubelet.pod('web', (pod) => waits(pod) === 'ImagePullBackOff' || waits(pod) === 'ErrImagePull');
  there = true;
  await kubelet.pod('web', isRunning);
  assert.ok(kubelet.reasons('web').includes('Pulling'));
  assert.ok(kubelet.reasons('web').includes('Failed'));
});

test('failed pulls after a crash do not lengthen its crash back-off', async (context) => {
  let there = true;
  const runtime = new FakeRuntime({ inRegistry: () => there });
  const kubelet = await start(context, {
    runtime,
    manifest: web.replace("'busybox:1'", "'busybox:1', imagePullPolicy: Always"),
    crashLoopBackoff: { initialMs: 60_000, maxMs: 60_000 },
    images: {
      ...{ serializePulls: false, maxParallelPulls: 0, registryPullQps: 0, registryBurst: 0 },
      ...{ pullBackoff: { initialMs: 20, maxMs: 20 }, dockerConfigPaths: [], verification: { kind: 'NeverVerify' } },
    },
  });
  await kubelet.pod('web', isRunning);
  there = false;
  runtime.exitContainer(runtime.containerNamed('app').id, { exitCode: 0 });
  const pulls = () => runtime.calls.filter(({ method }) => method === 'pullImage').length;
  await kubelet.until('three failed pulls', () => pulls() >= 4);
  assert.match(waits(await kubelet.pod('web', () => true))!, /^(ErrImagePull|ImagePullBackOff)$/);
  there = true;
  await kubelet.pod(
    'web',
    ({ status }) => status?.phase === 'Running' && status.containerStatuses?.[0]?.restartCount === 1,
  );
  runtime.exitContainer(runtime.containerNamed('app').id, { exitCode: 0 });
  await kubelet.pod('web', (pod) => waits(pod) === 'CrashLoopBackOff');
});

test('a missing image with pull policy Never becomes the waiting reason', async (context) => {
  const kubelet = await start(context, {
    manifest: `${web.replace("'busybox:1'", "'other:1', imagePullPolicy: Never")}`,
  });
  await kubelet.pod('web', (pod) => waits(pod) === 'ErrImageNeverPull');
});

test('a crashed container is restarted immediately the first time, and backs off afterwards', async (context) => {
  const kubelet = await start(context);
  await kubelet.pod('web', isRunning);
  const crash = () => kubelet.runtime.exitContainer(kubelet.runtime.containerNamed('app').id, { exitCode: 3 });
  crash();
  await kubelet.pod(
    'web',
    ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1 && status.phase === 'Running',
  );
  const crashedAtMs = Date.now();
  crash();
  const waiting = await kubelet.pod('web', (pod) => waits(pod) === 'CrashLoopBackOff');
  assert.match(
    waiting.status!.containerStatuses![0]!.state.waiting!.message!,
    /^back-off 100ms restarting failed container=app pod=web_default/,
  );
  assert.equal(waiting.status!.containerStatuses![0]!.lastState.terminated!.exitCode, 3);
  await kubelet.pod('web', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 2);
  assert.ok(Date.now() - crashedAtMs >= 100);
});

test('a pod with restartPolicy Never fails when its container fails', async (context) => {
  const once = web.replace('spec:', 'spec:\n  restartPolicy: Never');
  const kubelet = await start(context, { manifest: once });
  await kubelet.pod('web', isRunning);
  kubelet.runtime.exitContainer(kubelet.runtime.containerNamed('app').id, { exitCode: 4 });
  const pod = await kubelet.pod('web', ({ status }) => status?.phase === 'Failed');
  assert.equal(pod.status!.containerStatuses![0]!.state.terminated!.exitCode, 4);
  await kubelet.until('its volumes are unmounted', () => kubelet.mounted.size === 0);
  assert.equal(kubelet.runtime.containers.length, 1, 'the container stays for its log');
});

test('a container with a failed liveness probe is restarted', async (context) => {
  const probed = web.replace("'busybox:1'", "'busybox:1', livenessProbe: {exec: {command: ['true']}}");
  const kubelet = await start(context, { manifest: probed });
  const pod = await kubelet.pod('web', isRunning);
  const { id: containerId } = kubelet.runtime.containerNamed('app');
  const facts = { podUid: pod.metadata.uid, containerName: 'app', containerId };
  kubelet.liveness.set({ kind: 'liveness', result: 'failure', ...facts });
  await kubelet.pod('web', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
  assert.ok(kubelet.handle.events().some(({ message }) => /failed liveness probe, will be restarted/.test(message)));
});

test('stopping a container is repeated until it stops, and its sandbox stays until then', async (context) => {
  const kubelet = await start(context);
  await kubelet.pod('web', isRunning);
  kubelet.runtime.inject('stopContainer', { error: unavailable, times: 2 });
  kubelet.apply('');
  await kubelet.until('the pod is gone', () => kubelet.handle.pods().length === 0);
  assert.equal(countOf(kubelet, 'stopContainer'), 3);
  assert.deepEqual(kubelet.runtime.sandboxes, []);
});

test('a pod whose manifest is removed while its sandbox is being created is stopped at once', async (context) => {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  runtime.inject('runPodSandbox', { delayMs: 60_000 });
  const kubelet = await start(context, { runtime });
  await kubelet.until('the sandbox is being created', () => countOf(kubelet, 'runPodSandbox') === 1);
  kubelet.apply('');
  await kubelet.until('the pod is gone', () => kubelet.handle.pods().length === 0);
  assert.deepEqual(kubelet.runtime.sandboxes, []);
});

test('a changed manifest replaces the pod, which is removed before the new one starts', async (context) => {
  const kubelet = await start(context);
  const old = await kubelet.pod('web', isRunning);
  kubelet.apply(web.replace('metadata: {', 'metadata: {labels: {version: "2"}, '));
  const next = await kubelet.pod('web', (pod) => pod.metadata.uid !== old.metadata.uid && isRunning(pod));
  assert.notEqual(next.metadata.uid, old.metadata.uid);
  const order = kubelet.runtime.calls
    .map(({ method }) => method)
    .filter((name) => /PodSandbox$/.test(name) && !/^list/.test(name));
  assert.deepEqual(order, ['runPodSandbox', 'stopPodSandbox', 'removePodSandbox', 'runPodSandbox']);
  assert.deepEqual(kubelet.handle.pods().length, 1);
});

test('a pod that returns to its source while terminating starts again, even if its grace period was shortened', async (context) => {
  const manifest = web.replace('metadata: {', 'metadata: {uid: mine, ');
  const kubelet = await start(context, { manifest });
  await kubelet.pod('web', isRunning);
  kubelet.runtime.inject('stopContainer', { delayMs: 60_000, times: 1 });
  kubelet.apply('');
  await kubelet.until('it is being stopped', () => countOf(kubelet, 'stopContainer') === 1);
  kubelet.apply(manifest);
  await kubelet.handle.deletePod('mine', 0);
  await kubelet.until('it runs again', () => countOf(kubelet, 'runPodSandbox') === 2);
  await kubelet.pod('web', isRunning);
});

test('a restarted kubelet adopts running pods unchanged, and terminates those that are in no source', async (context) => {
  const other = web.replace('name: web', 'name: other');
  const kubelet = await start(context, { manifest: `${web}---${other}` });
  await kubelet.pod('web', isRunning);
  await kubelet.pod('other', isRunning);
  const { id } = kubelet.runtime.containers.find(({ config }) => config.labels['io.kubernetes.pod.name'] === 'web')!;
  await kubelet.handle.close();
  const before = countOf(kubelet, 'createContainer');
  kubelet.apply(web);
  await kubelet.restart();
  await kubelet.pod('web', isRunning);
  await kubelet.until('the orphan is gone', () => kubelet.runtime.sandboxes.length === 1);
  assert.equal(kubelet.runtime.containerNamed('app').id, id);
  assert.equal(kubelet.runtime.containers[0]!.state, ContainerState.CONTAINER_RUNNING);
  assert.equal(countOf(kubelet, 'createContainer'), before);
});

test('a sandbox that stops is replaced, and its containers are re-created', async (context) => {
  const kubelet = await start(context);
  await kubelet.pod('web', isRunning);
  const [sandbox] = kubelet.runtime.sandboxes;
  await kubelet.runtime.client.runtime.stopPodSandbox({ podSandboxId: sandbox!.id });
  await kubelet.until('another sandbox runs it', () => kubelet.runtime.sandboxes.length === 2);
  const pod = await kubelet.pod(
    'web',
    ({ status }) => isRunning({ status } as Pod) && status?.containerStatuses?.[0]?.restartCount === 1,
  );
  assert.equal(pod.status!.conditions!.find(({ type }) => type === 'Ready')!.status, 'True');
  assert.ok(kubelet.reasons('web').includes('SandboxChanged'));
});

test('a pod fails once its active deadline has passed', async (context) => {
  const kubelet = await start(context, { manifest: web.replace('spec:', 'spec:\n  activeDeadlineSeconds: 1') });
  const pod = await kubelet.pod('web', ({ status }) => status?.phase === 'Failed');
  assert.equal(pod.status!.reason, 'DeadlineExceeded');
});

test('if two pods have the same host port, the second one is rejected', async (context) => {
  const ported = web.replace("'busybox:1'", "'busybox:1', ports: [{containerPort: 80, hostPort: 8080}]");
  const kubelet = await start(context, { manifest: ported });
  await kubelet.pod('web', isRunning);
  kubelet.apply(`${ported}---${ported.replace('name: web', 'name: other')}`);
  const other = await kubelet.pod('other', ({ status }) => status?.phase === 'Failed');
  assert.equal(other.status!.reason, 'NodePorts');
});

test('sidecars are stopped after the other containers, in reverse order', async (context) => {
  const sidecars = ['one', 'two'].map((name) => `  - {name: ${name}, image: 'busybox:1', restartPolicy: Always}`);
  const kubelet = await start(context, {
    manifest: web.replace('  containers:', `  initContainers:\n${sidecars.join('\n')}\n  containers:`),
  });
  await kubelet.pod('web', isRunning);
  const names = new Map(kubelet.runtime.containers.map(({ id, config }) => [id, config.metadata!.name]));
  kubelet.apply('');
  await kubelet.until('the pod is gone', () => kubelet.handle.pods().length === 0);
  const stopped = kubelet.runtime.calls
    .filter(({ method }) => method === 'stopContainer')
    .map(({ request }) => names.get((request as { containerId: string }).containerId));
  assert.deepEqual(stopped, ['app', 'two', 'one']);
});
