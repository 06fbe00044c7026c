/** The statuses published over a pod's lifetime, on an in-memory runtime. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Pod, PodCondition } from '@podwright/kube-api';
import { type FakeKubelet, startFakeKubelet } from './fake-kubelet.fixture.ts';

function manifest(name: string, spec = '', container = ''): string {
  return `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
${spec.replaceAll(/^/gm, '  ')}
  containers:
  - {name: app, image: 'busybox:1'${container}}
`;
}

async function start(context: TestContext, options: Parameters<typeof startFakeKubelet>[0] = {}): Promise<FakeKubelet> {
  const kubelet = await startFakeKubelet(options);
  context.after(() => kubelet.close());
  return kubelet;
}

const READINESS = ", readinessProbe: {exec: {command: ['true']}}";
const STARTUP = ", startupProbe: {exec: {command: ['true']}}";
const isRunning = (pod: Pod) => pod.status?.phase === 'Running';
const conditionOf = (pod: Pod, type: string): PodCondition | undefined =>
  pod.status?.conditions?.find((one) => one.type === type);
const isReady = (pod: Pod) => conditionOf(pod, 'Ready')?.status === 'True';
const called = (kubelet: FakeKubelet, method: string) => kubelet.runtime.calls.some((call) => call.method === method);

function answer(kubelet: FakeKubelet, pod: Pod, kind: 'readiness' | 'startup', result: 'success' | 'failure'): void {
  const { id: containerId } = kubelet.runtime.containerNamed('app');
  kubelet.answers[kind].set({ kind, podUid: pod.metadata.uid, containerName: 'app', containerId, result });
}

test('if two pods in one manifest use the same host port, one runs and the other is rejected', async (context) => {
  const port = ', ports: [{containerPort: 80, hostPort: 8080}]';
  const kubelet = await start(context, { manifest: `${manifest('a', '', port)}---${manifest('b', '', port)}` });
  await kubelet.pod('a', isRunning);
  const { status, metadata } = await kubelet.pod('b', ({ status }) => status?.phase === 'Failed');
  const message =
    "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports: port 8080/TCP of the host is taken by pod default/a";
  assert.deepEqual([status?.reason, status?.message, status?.containerStatuses], ['NodePorts', message, undefined]);
  assert.deepEqual(kubelet.reasons('b'), ['NodePorts']);
  assert.equal(kubelet.mounted.has(metadata.uid), false);
});

test('a node with maxPods 10 runs ten out of twelve pods', async (context) => {
  const names = Array.from({ length: 12 }, (_, index) => `pod-${index}`);
  const kubelet = await start(context, { maxPods: 10, manifest: names.map((name) => manifest(name)).join('---') });
  const phases = () => kubelet.handle.pods().map(({ status }) => status?.phase);
  await kubelet.until('all are decided', () => phases().filter((phase) => phase !== 'Pending').length === 12);
  assert.equal(phases().filter((phase) => phase === 'Running').length, 10);
  const refused = kubelet.handle.pods().filter(({ status }) => status?.reason === 'OutOfpods');
  assert.deepEqual(refused.map(({ metadata }) => metadata.name).sort(), ['pod-10', 'pod-11']);
});

test('readiness is published while a pod terminates', async (context) => {
  const kubelet = await start(context, { manifest: manifest('web', '', READINESS) });
  const pod = await kubelet.pod('web', isRunning);
  answer(kubelet, pod, 'readiness', 'success');
  await kubelet.pod('web', isReady);
  kubelet.runtime.inject('stopContainer', { delayMs: 60_000, times: 1 });
  kubelet.apply('');
  await kubelet.until('it is being stopped', () => called(kubelet, 'stopContainer'));
  answer(kubelet, pod, 'readiness', 'failure');
  const ending = await kubelet.pod('web', (one) => !isReady(one));
  assert.equal(ending.status?.containerStatuses?.[0]?.ready, false);
  void kubelet.handle.deletePod(pod.metadata.uid, 0);
});

test('startup and readiness are published while other containers of the pod are being created', async (context) => {
  const slow = "\n  - {name: slow, image: 'busybox:1'}";
  const kubelet = await start(context, {
    manifest: `${manifest('web', '', STARTUP + READINESS).trimEnd()}${slow}\n`,
  });
  const pod = await kubelet.pod('web', isRunning);
  kubelet.runtime.inject('createContainer', { delayMs: 60_000, times: 1 });
  const { id } = kubelet.runtime.containers.find(({ config }) => config.metadata?.name === 'slow')!;
  const made = kubelet.runtime.calls.filter(({ method }) => method === 'createContainer').length;
  kubelet.runtime.exitContainer(id, { exitCode: 1 });
  const count = () => kubelet.runtime.calls.filter(({ method }) => method === 'createContainer').length;
  await kubelet.until('the other one is being created again', () => count() > made);
  answer(kubelet, pod, 'startup', 'success');
  answer(kubelet, pod, 'readiness', 'success');
  await kubelet.pod('web', ({ status }) => {
    const app = status?.containerStatuses?.find(({ name }) => name === 'app');
    return app?.started === true && app.ready;
  });
});

test('pod addresses are published before the images are pulled', async (context) => {
  const runtime = new FakeRuntime({ inRegistry: () => true });
  runtime.inject('pullImage', { delayMs: 60_000 });
  const kubelet = await start(context, { runtime, manifest: manifest('web') });
  const pod = await kubelet.pod('web', (one) => conditionOf(one, 'PodReadyToStartContainers')?.status === 'True');
  assert.equal(pod.status?.phase, 'Pending');
  assert.ok(pod.status?.podIP);
});

for (const [what, spec, method] of [
  ['while its image is pulled', '', 'pullImage'],
  ['while its sandbox is created', '', 'runPodSandbox'],
  ['while it is initialized', "initContainers:\n- {name: first, image: 'busybox:1'}", 'createContainer'],
] as const) {
  test(`a pod that is deleted ${what} ends as failed, and is removed from the runtime`, async (context) => {
    const images = method === 'pullImage' ? [] : ['busybox:1'];
    const runtime = new FakeRuntime({ images, inRegistry: () => true });
    runtime.inject(method, { delayMs: 60_000 });
    const kubelet = await start(context, { runtime, manifest: manifest('web', spec) });
    await kubelet.until('the call is pending', () => called(kubelet, method));
    await deletedAsFailed(kubelet);
  });
}

test('a pod that is deleted during crash back-off ends as failed, and is removed from the runtime', async (context) => {
  const crashLoopBackoff = { initialMs: 60_000, maxMs: 60_000 };
  const kubelet = await start(context, { manifest: manifest('web'), crashLoopBackoff });
  for (const restartCount of [0, 1]) {
    await kubelet.pod('web', ({ status }) => {
      const [app] = status?.containerStatuses ?? [];
      return app?.restartCount === restartCount && app.state.running !== undefined;
    });
    kubelet.runtime.exitContainer(kubelet.runtime.containerNamed('app').id, { exitCode: 1 });
  }
  const waits = ({ status }: Pod) => status?.containerStatuses?.[0]?.state.waiting?.reason === 'CrashLoopBackOff';
  await kubelet.pod('web', waits);
  await deletedAsFailed(kubelet);
});

async function deletedAsFailed(kubelet: FakeKubelet): Promise<void> {
  const phases: string[] = [];
  const changes = kubelet.handle.watch(AbortSignal.timeout(10_000));
  kubelet.apply('');
  for await (const { type, pod } of changes) {
    if (type === 'DELETED') break;
    phases.push(pod.status!.phase);
  }
  assert.equal(phases.at(-1), 'Failed');
  assert.deepEqual([kubelet.runtime.containers, kubelet.runtime.sandboxes], [[], []]);
}

test('a pod with restartPolicy Never fails if its sandbox is lost before its containers start', async (context) => {
  const first = "restartPolicy: Never\ninitContainers:\n- {name: first, image: 'busybox:1'}";
  const kubelet = await start(context, { manifest: manifest('web', first) });
  await kubelet.until('its init container exists', () => kubelet.runtime.containers.length === 1);
  kubelet.runtime.inject('createContainer', { error: new PodwrightError('unavailable', 'away') });
  kubelet.runtime.exitContainer(kubelet.runtime.containerNamed('first').id, { exitCode: 0 });
  const waits = ({ status }: Pod) => status?.containerStatuses?.[0]?.state.waiting?.reason === 'CreateContainerError';
  await kubelet.pod('web', waits);
  const [sandbox] = kubelet.runtime.sandboxes;
  await kubelet.runtime.client.runtime.stopPodSandbox({ podSandboxId: sandbox!.id });
  const { status } = await kubelet.pod('web', ({ status }) => status?.phase === 'Failed');
  await kubelet.until('its volumes are unmounted', () => kubelet.mounted.size === 0);
  assert.equal(status?.initContainerStatuses?.[0]?.state.terminated?.exitCode, 0);
  assert.equal(status?.containerStatuses?.[0]?.state.terminated?.reason, 'ContainerStatusUnknown');
});

test('a kubelet restart does not change the status of a pod', async (context) => {
  const kubelet = await start(context, { manifest: manifest('web', '', STARTUP + READINESS) });
  const pod = await kubelet.pod('web', isRunning);
  answer(kubelet, pod, 'startup', 'success');
  answer(kubelet, pod, 'readiness', 'success');
  await kubelet.pod('web', isReady);
  kubelet.runtime.exitContainer(kubelet.runtime.containerNamed('app').id, { exitCode: 1 });
  await kubelet.pod('web', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
  const again = await kubelet.pod('web', isRunning);
  const { id: containerId } = kubelet.runtime.containers.at(-1)!;
  for (const kind of ['startup', 'readiness'] as const) {
    const about = { podUid: again.metadata.uid, containerName: 'app', containerId };
    kubelet.answers[kind].set({ kind, ...about, result: 'success' });
  }
  const before = await kubelet.pod('web', isReady);
  const seen: (boolean | undefined)[] = [];
  await kubelet.restart();
  const changes = kubelet.handle.watch(AbortSignal.timeout(10_000));
  seen.push(...kubelet.handle.pods().map(isReady));
  const after = await kubelet.pod('web', isRunning);
  changes.end();
  assert.ok(seen.every((ready) => ready));
  assert.deepEqual(after.status, before.status);
  kubelet.answers.readiness.set({
    ...{ kind: 'readiness', podUid: after.metadata.uid, containerName: 'app', containerId },
    result: 'failure',
  });
  await kubelet.pod('web', (one) => !isReady(one));
});

test('rejected and completed pods stay so after a restart, and run again when removed and added', async (context) => {
  const [refused, once] = [manifest('refused', 'nodeSelector: {disk: ssd}'), manifest('once', 'restartPolicy: Never')];
  const kubelet = await start(context, { manifest: `${refused}---${once}` });
  await kubelet.pod('once', isRunning);
  kubelet.runtime.exitContainer(kubelet.runtime.containerNamed('app').id, { exitCode: 3 });
  const ended = await kubelet.pod('once', ({ status }) => status?.phase === 'Failed');
  const before = await kubelet.pod('refused', ({ status }) => status?.reason === 'NodeAffinity');
  await kubelet.runtime.client.runtime.removeContainer({ containerId: kubelet.runtime.containers[0]!.id });
  await kubelet.runtime.client.runtime.removePodSandbox({ podSandboxId: kubelet.runtime.sandboxes[0]!.id });
  await kubelet.restart();
  const isFailed = ({ status }: Pod) => status?.phase === 'Failed';
  const now = [await kubelet.pod('once', isFailed), await kubelet.pod('refused', isFailed)];
  assert.deepEqual(
    now.map(({ status }) => [status?.reason, status?.message, status?.startTime]),
    [ended, before].map(({ status }) => [status?.reason, status?.message, status?.startTime]),
  );
  assert.equal(now[0]!.status?.containerStatuses?.[0]?.state.terminated?.exitCode, 3);
  assert.equal(now[1]!.status?.containerStatuses, undefined);
  kubelet.apply('');
  await kubelet.until('both are removed', () => kubelet.handle.pods().length === 0);
  kubelet.apply(once);
  await kubelet.pod('once', isRunning);
});

test('a pod that lost its containers in a reboot is started again, and this counts as a restart', async (context) => {
  const kubelet = await start(context, { manifest: manifest('web') });
  const { status: before } = await kubelet.pod('web', isRunning);
  await kubelet.handle.close();
  for (const { id } of [...kubelet.runtime.containers])
    await kubelet.runtime.client.runtime.removeContainer({ containerId: id });
  for (const { id } of [...kubelet.runtime.sandboxes])
    await kubelet.runtime.client.runtime.removePodSandbox({ podSandboxId: id });
  await kubelet.restart();
  // wait for the first sync: until then, the status from before the reboot is shown
  const isSynced = ({ status }: Pod) => status?.containerStatuses?.[0]?.lastState.terminated !== undefined;
  const { status } = await kubelet.pod('web', (one) => isSynced(one) && isRunning(one) && isReady(one));
  const [app] = status!.containerStatuses!;
  assert.deepEqual([app!.restartCount, status!.startTime], [1, before!.startTime]);
  assert.equal(app!.lastState.terminated?.reason, 'ContainerStatusUnknown');
});

test('a critical pod preempts another pod, whose status reports it', async (context) => {
  const kubelet = await start(context, { maxPods: 1, manifest: manifest('plain') });
  await kubelet.pod('plain', isRunning);
  kubelet.apply(`${manifest('plain')}---${manifest('vital', 'priorityClassName: system-node-critical')}`);
  await kubelet.pod('vital', isRunning);
  const displaced = await kubelet.pod('plain', ({ status }) => status?.phase === 'Failed');
  assert.equal(displaced.status?.reason, 'Preempting');
  const { lastProbeTime: _, lastTransitionTime: __, ...target } = conditionOf(displaced, 'DisruptionTarget')!;
  const message = 'Pod was preempted by Kubelet to accommodate a critical pod.';
  assert.deepEqual(target, { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message });
  assert.deepEqual(kubelet.reasons('plain').slice(-2), ['Preempting', 'Killing']);
});

test('a requested restart of a crashed container is immediate, even if a resize of its pod is deferred', async (context) => {
  const sized = (cpu: string) => manifest('web', '', `, resources: {requests: {cpu: ${cpu}}}`);
  const kubelet = await start(context, {
    manifest: sized('100m'),
    crashLoopBackoff: { initialMs: 60_000, maxMs: 60_000 },
  });
  const running = () =>
    kubelet.runtime.containers.filter(({ config, state }) => config.metadata?.name === 'app' && state === 1);
  const crash = () => kubelet.runtime.exitContainer(running().at(-1)!.id, { exitCode: 1 });
  await kubelet.pod('web', isRunning);
  crash();
  await kubelet.pod('web', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
  kubelet.apply(sized('1000'));
  await kubelet.pod('web', (pod) => conditionOf(pod, 'PodResizePending') !== undefined);
  crash();
  const reason = ({ status }: Pod) => status?.containerStatuses?.[0]?.state.waiting?.reason;
  await kubelet.pod('web', (pod) => reason(pod) === 'CrashLoopBackOff');
  assert.deepEqual(kubelet.handle.restartContainers(kubelet.handle.pod('default', 'web'), undefined), ['app']);
  await kubelet.until('restarted', () => running().length > 0);
});
