/** In-place pod resize, on a kubelet with an in-memory runtime. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { type TestContext, test } from 'node:test';
import { PodwrightError, sleep } from '@podwright/base';
import { Checkpoint } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { type FakeKubelet, startFakeKubelet } from '../fake-kubelet.fixture.ts';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { ActuatedResources } from '../kuberuntime/actuated-resources.ts';
import { fakeNode } from '../kuberuntime/dependencies.fixture.ts';
import type { AllocatedRecord } from '../kuberuntime/resource-records.ts';
import { PodAllocations } from './pod-allocations.ts';

const manifest = (cpu: string, rest = '') => `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: app, image: 'busybox:1', resources: {requests: {cpu: ${cpu}}}${rest}}]}
`;

const running = ({ status }: Pod) => status?.containerStatuses?.[0]?.state.running !== undefined;
const condition = ({ status }: Pod, type: string) => status?.conditions?.find((one) => one.type === type);
const has = (cpu: string) => (pod: Pod) =>
  running(pod) && pod.status?.containerStatuses?.[0]?.resources?.requests?.cpu === cpu;
const sharesOf = (fake: FakeKubelet) => fake.runtime.containers.at(-1)!.config.linux?.resources?.cpuShares;

async function start(t: TestContext, text: string): Promise<{ fake: FakeKubelet; pod: Pod }> {
  const fake = await startFakeKubelet({ manifest: text });
  t.after(() => fake.close());
  return { fake, pod: await fake.pod('web', running) };
}

test('a manifest with changed resources resizes its running pod', async (t) => {
  const { fake, pod } = await start(t, manifest('100m'));
  assert.equal(sharesOf(fake), 102n);
  fake.apply(manifest('200m'));
  const resized = await fake.pod('web', (one) => has('200m')(one) && !condition(one, 'PodResizeInProgress'));
  assert.equal(resized.metadata.uid, pod.metadata.uid);
  assert.equal(resized.status!.containerStatuses![0]!.restartCount, 0);
  assert.equal(sharesOf(fake), 204n);
  await fake.until('the event', () => fake.reasons('web').includes('ResizeCompleted'));
  const [started] = fake.handle.events().filter(({ reason }) => reason === 'ResizeStarted');
  assert.match(
    started!.message,
    /^Pod resize started: \{"containers":\[\{"name":"app","resources":\{"requests":\{"cpu":"200m"/,
  );
});

test('the same amount in a different notation is not a resize', async (t) => {
  const { fake } = await start(t, manifest('100m'));
  fake.apply(manifest('"0.1"'));
  await sleep(100); // lets the kubelet read this manifest before the next one
  fake.apply(manifest('200m'));
  await fake.pod('web', has('200m'));
  const started = fake.handle.events().filter(({ reason }) => reason === 'ResizeStarted');
  assert.deepEqual(
    started.map(({ message }) => message.includes('200m')),
    [true],
  );
});

test('resources can be added to and removed from a running container', async (t) => {
  const { fake, pod } = await start(t, manifest('100m'));
  const last = () => fake.runtime.containers.at(-1)!.config.linux!.resources!;
  const limited = manifest('100m').replace('resources: {', 'resources: {limits: {cpu: 500m}, ');
  fake.apply(limited);
  const resized = await fake.pod('web', (one) => one.status?.containerStatuses?.[0]?.resources?.limits?.cpu === '500m');
  assert.equal(resized.metadata.uid, pod.metadata.uid);
  assert.equal(last().cpuQuota, 50_000n);
  fake.apply(manifest('100m'));
  await fake.until('the limit is gone', () => last().cpuQuota === -1n);
  const after = await fake.pod('web', (one) => !condition(one, 'PodResizeInProgress'));
  assert.equal(after.status!.containerStatuses![0]!.restartCount, 0);
});

test('changed pod-level resources apply to containers without their own limits', async (t) => {
  const whole = (cpu: string) => manifest('100m').replace('spec: {', `spec: {resources: {limits: {cpu: ${cpu}}}, `);
  const { fake, pod } = await start(t, whole('300m'));
  const quota = () => fake.runtime.containers.at(-1)!.config.linux!.resources!.cpuQuota;
  assert.equal(quota(), 30_000n);
  fake.apply(whole('600m'));
  const resized = await fake.pod('web', (one) => one.status?.resources?.limits?.cpu === '600m');
  assert.equal(resized.metadata.uid, pod.metadata.uid);
  await fake.until('the container has it', () => quota() === 60_000n);
  await fake.restart();
  const again = await fake.pod('web', (one) => running(one) && !condition(one, 'PodResizeInProgress'));
  assert.equal(again.status!.containerStatuses![0]!.restartCount, 0);
  assert.equal(quota(), 60_000n);
});

test('a resize restarts containers whose resize policy requires it', async (t) => {
  const policy = ', resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]';
  const { fake, pod } = await start(t, manifest('100m', policy));
  fake.apply(manifest('200m', policy));
  const resized = await fake.pod('web', has('200m'));
  assert.equal(resized.metadata.uid, pod.metadata.uid);
  assert.equal(resized.status!.containerStatuses![0]!.restartCount, 1);
  assert.equal(sharesOf(fake), 204n);
  const messages = fake.handle.events().map(({ message }) => message);
  assert.ok(messages.includes('Container app resize requires restart'), messages.join('\n'));
});

test('a resize beyond the capacity of the node is infeasible, and the pod keeps its resources', async (t) => {
  const { fake } = await start(t, manifest('100m'));
  const much = availableParallelism() + 1;
  fake.apply(manifest(String(much)));
  const waiting = await fake.pod('web', (one) => condition(one, 'PodResizePending') !== undefined);
  const { reason, message } = condition(waiting, 'PodResizePending')!;
  assert.equal(reason, 'Infeasible');
  assert.match(message!, /^Node didn't have enough capacity: cpu, requested: \d+, capacity: \d+$/);
  assert.equal(
    waiting.spec.containers[0]!.resources!.requests!.cpu,
    String(much),
    'the spec shows the requested amount',
  );
  assert.equal(waiting.status!.containerStatuses![0]!.allocatedResources!.cpu, '100m');
  assert.equal(sharesOf(fake), 102n);
  fake.apply(manifest('300m'));
  const resized = await fake.pod('web', (one) => has('300m')(one));
  assert.equal(condition(resized, 'PodResizePending'), undefined);
});

test('a resize that does not fit is deferred, and one that would change the swap limit of a container is infeasible', () => {
  const emitted: string[] = [];
  const events = {
    event: (_: object, type: string, reason: string, message: string) =>
      void emitted.push(`${type} ${reason} ${message}`),
  };
  const host = { cgroupV2: true, countsSwap: true };
  const containers = [{ name: 'app', image: 'i', resources: { requests: { cpu: '1500m' } } }];
  const other = { metadata: { namespace: 'default', name: 'other', uid: 'o' }, spec: { containers } };
  const allocations = new PodAllocations({
    events,
    actuated: new ActuatedResources(),
    node: { cpu: 2000n, memory: 1n << 30n },
    enforcement: fakeNode(host, { swapBehavior: 'LimitedSwap' }),
    activePods: () => [other as unknown as Pod],
  });
  const metadata = { namespace: 'default', name: 'web', uid: 'u' };
  const allocate = (requests: Record<string, string>) => {
    const pod = { metadata, spec: { containers: [{ name: 'app', image: 'i', resources: { requests } }] } };
    const given = allocations.allocate(pod as Pod, { pod: metadata, sandboxes: [], containers: [] });
    const [pending] = allocations.conditions('u').filter(({ type }) => type === 'PodResizePending');
    return [given.spec.containers[0]!.resources!.requests!.memory, pending?.reason, allocations.isDeferred('u')];
  };
  assert.deepEqual(allocate({ memory: '64Mi' }), ['64Mi', undefined, false]);
  assert.deepEqual(allocate({ memory: '64Mi', cpu: '1' }), ['64Mi', 'Deferred', true]);
  for (const memory of ['32Mi', '2Gi']) assert.deepEqual(allocate({ memory }), ['64Mi', 'Infeasible', false]);
  assert.equal(emitted.length, 2, emitted.join('\n'));
  assert.match(emitted[0]!, /^Warning ResizeDeferred Pod resize OutOfcpu: /);
  const why = 'In-place resize of containers with swap is not supported.';
  assert.match(emitted[1]!, new RegExp(`^Warning ResizeInfeasible Pod resize Infeasible: .*"error":"${why}"`));
  assert.deepEqual(allocate({ memory: '64Mi' }), ['64Mi', undefined, false]);
});

test('a resize rejected by the runtime is retried, and its error is reported meanwhile', async (t) => {
  const { fake } = await start(t, manifest('100m'));
  const error = new PodwrightError('failed_precondition', 'too much');
  fake.runtime.inject('updateContainerResources', { error, times: 1 });
  fake.apply(manifest('200m'));
  const failed = await fake.pod('web', (one) => condition(one, 'PodResizeInProgress')?.reason === 'Error');
  assert.match(condition(failed, 'PodResizeInProgress')!.message!, /too much/);
  await fake.pod('web', (one) => has('200m')(one) && !condition(one, 'PodResizeInProgress'));
  assert.equal(sharesOf(fake), 204n);
});

test('a resized pod is not restarted after a kubelet restart', async (t) => {
  const { fake } = await start(t, manifest('100m'));
  fake.apply(manifest('200m'));
  await fake.pod('web', has('200m'));
  await fake.restart();
  const again = await fake.pod('web', (one) => has('200m')(one) && !condition(one, 'PodResizeInProgress'));
  assert.equal(again.status!.containerStatuses![0]!.restartCount, 0);
});

const LOST = new Map<string, AllocatedRecord>();
const RESIZED = new Map<string, AllocatedRecord>([
  ['u', { ContainerResources: { app: { requests: { memory: '600Mi' } } } }],
]);

/** Returns the memory of a running pod, created with 100Mi, after a kubelet restart, and why its resize to 600Mi is pending, if it is. */
function afterRestart(records: Map<string, AllocatedRecord>, others: Pod[], isThere = true) {
  const resources = { requests: { memory: '100Mi' } };
  const metadata = { namespace: 'default', name: 'web', uid: 'u' };
  const container = {
    id: 'c',
    name: 'app',
    state: 'running',
    resources,
  } as Partial<RuntimeContainer> as RuntimeContainer;
  const status = { pod: metadata, sandboxes: [], containers: isThere ? [container] : [] };
  const allocations = new PodAllocations({
    events: { event: () => undefined },
    actuated: new ActuatedResources(),
    node: { memory: 1n << 30n },
    enforcement: fakeNode(),
    activePods: () => others,
    runtimeStatus: (uid) => (uid === 'u' ? status : undefined),
    checkpoint: new Checkpoint(undefined, records),
  });
  const desired = podOf(metadata, '600Mi');
  const before = allocations.current(desired).spec.containers[0]!.resources!.requests!.memory;
  const given = allocations.allocate(desired, status).spec.containers[0]!.resources!.requests!.memory;
  return [before, given, allocations.isDeferred('u')];
}

const podOf = (metadata: Pod['metadata'], memory: string): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata },
  spec: { containers: [{ name: 'app', image: 'i', resources: { requests: { memory } } }] } as Pod['spec'],
});

test('after a kubelet restart a pod has its checkpointed allocation, or else the resources its containers were created with', () => {
  const other = podOf({ namespace: 'default', name: 'other', uid: 'o' }, '600Mi');
  assert.deepEqual(afterRestart(new Map(RESIZED), []), ['600Mi', '600Mi', false]);
  assert.deepEqual(afterRestart(new Map(RESIZED), [other]), ['600Mi', '600Mi', false]);
  assert.deepEqual(afterRestart(new Map(LOST), []), ['100Mi', '600Mi', false]);
  assert.deepEqual(afterRestart(new Map(LOST), [other]), ['100Mi', '100Mi', true]);
  assert.deepEqual(afterRestart(new Map(LOST), [other], false), ['600Mi', '600Mi', false], 'admitted as desired');
});

test('a pod whose manifest was reverted while the kubelet was down gets its original amounts again', async (t) => {
  const { fake } = await start(t, manifest('100m'));
  fake.apply(manifest('200m'));
  await fake.pod('web', (one) => has('200m')(one) && !condition(one, 'PodResizeInProgress'));
  await fake.restart(manifest('100m'));
  await fake.pod('web', has('100m'));
  await fake.until('the container has them', () => sharesOf(fake) === 102n);
});
