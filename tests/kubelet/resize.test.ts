/** In-place pod resize on Podwright's runtime, as seen in the cgroups of pods and containers. Requires root. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type CgroupHierarchy, cgroupDirectory, discoverCgroups, treeOf } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { startKubelet } from '@podwright/kubelet';
import { killKubelet, startKubeletChild } from './kubelet-child.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { docker, onDocker, type SuiteRuntime, startOurRuntime } from './suite-runtime.fixture.ts';

let runtime: SuiteRuntime;
let kubelet: RealKubelet;
let hierarchy: CgroupHierarchy;
before(async () => {
  hierarchy = (await discoverCgroups())!;
  runtime = await startOurRuntime('rs');
  kubelet = await startRealKubelet(runtime);
});
after(async () => {
  await (kubelet as RealKubelet | undefined)?.close(); // if it was started
  await (runtime as SuiteRuntime | undefined)?.stop();
});

const write = (name: string, resources: string, more = '') =>
  kubelet.apply(
    `${name}.yaml`,
    `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: '${runtime.image}', imagePullPolicy: Never, command: [sleep, '3600'], resources: ${resources}${more}}]
`,
  );

const main = (pod: Pod) => pod.status!.containerStatuses![0]!;
const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((one) => one.type === type);
const isReady = (pod: Pod) => condition(pod, 'Ready')?.status === 'True';
const isResized = (resource: 'cpu' | 'memory', amount: string) => (pod: Pod) =>
  isReady(pod) && !condition(pod, 'PodResizeInProgress') && main(pod).resources?.requests?.[resource] === amount;
const reasonsOf = (name: string) =>
  kubelet.handle.events().flatMap(({ involvedObject, reason }) => (involvedObject.name === name ? [reason] : []));

const FILES = {
  cpu: { 1: 'cpu.cfs_quota_us', 2: 'cpu.max' },
  memory: { 1: 'memory.limit_in_bytes', 2: 'memory.max' },
};

/** Returns the CPU quota (µs) and memory limit (bytes) of the pod's cgroup and of its container's cgroup. */
function limitsOf(pod: Pod, qos: '' | '/burstable' = ''): string[][] {
  const path = `${kubelet.options.cgroupRoot}/kubepods${qos}/pod${pod.metadata.uid}`;
  const id = main(pod).containerID!.split('//')[1]!;
  return [path, `${path}/${id}`].map((cgroup) =>
    (['cpu', 'memory'] as const).map((controller) => {
      const tree = treeOf(hierarchy, controller)!;
      const file = join(cgroupDirectory(tree, cgroup), FILES[controller][tree.version]);
      return readFileSync(file, 'utf8').trim().split(' ')[0]!;
    }),
  );
}

test('changed resources are applied to the pod and container cgroups without a restart', async () => {
  const sized = (cpu: string, memory: string) => write('sized', `{limits: {cpu: ${cpu}, memory: ${memory}}}`);
  await sized('200m', '64Mi');
  const first = await kubelet.pod('sized', isReady);
  const both = (cpuQuota: number, bytes: number) => Array(2).fill([String(cpuQuota), String(bytes)]);
  assert.deepEqual(limitsOf(first), both(20_000, 64 << 20));
  for (const [cpu, memory, limits] of [
    ['300m', '128Mi', both(30_000, 128 << 20)],
    ['100m', '32Mi', both(10_000, 32 << 20)],
  ] as const) {
    await sized(cpu, memory);
    const now = await kubelet.pod('sized', (pod) => isResized('cpu', cpu)(pod) && isResized('memory', memory)(pod));
    assert.deepEqual(limitsOf(now), limits);
    assert.deepEqual([main(now).containerID, main(now).restartCount], [main(first).containerID, 0]);
  }
  await kubelet.until('the event is published', () => reasonsOf('sized').includes('ResizeCompleted'));
});

test('a limit is added to a container without one, and removed again', async () => {
  await write('limited', '{requests: {cpu: 10m}}');
  const first = await kubelet.pod('limited', isReady);
  const none = limitsOf(first, '/burstable');
  await write('limited', '{requests: {cpu: 10m}, limits: {cpu: 100m, memory: 64Mi}}');
  const limited = [String(10_000), String(64 << 20)];
  await kubelet.until(
    'both are limited',
    () => limitsOf(first, '/burstable').flat().join() === [...limited, ...limited].join(),
  );
  await write('limited', '{requests: {cpu: 10m}}');
  if (onDocker) {
    const refused = (pod: Pod) => condition(pod, 'PodResizeInProgress')?.reason === 'Error';
    const pod = await kubelet.pod('limited', refused);
    return assert.match(condition(pod, 'PodResizeInProgress')!.message!, docker.memoryLimitStays);
  }
  await kubelet.until('neither is', () => limitsOf(first, '/burstable').flat().join() === none.flat().join());
  assert.equal(main(await kubelet.pod('limited', isReady)).restartCount, 0);
});

test('a container with resizePolicy RestartContainer is restarted', async () => {
  const policy = ', resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]';
  await write('restarted', '{limits: {cpu: 20m, memory: 32Mi}}', policy);
  const first = await kubelet.pod('restarted', isReady);
  await write('restarted', '{limits: {cpu: 20m, memory: 64Mi}}', policy);
  const second = await kubelet.pod(
    'restarted',
    (pod) => isResized('memory', '64Mi')(pod) && main(pod).restartCount === 1,
  );
  assert.equal(second.metadata.uid, first.metadata.uid);
  assert.deepEqual(limitsOf(second)[1], ['2000', String(64 << 20)]);
});

test('a resize beyond the free capacity is deferred without a reservation until a pod frees it, and an impossible one stays infeasible', async () => {
  const half = availableParallelism() * 500;
  await write('other', `{requests: {cpu: ${half}m}}`);
  await write('waits', '{requests: {cpu: 10m}}');
  await kubelet.pod('other', isReady);
  await kubelet.pod('waits', isReady);
  await write('waits', `{requests: {cpu: ${half + 100}m}}`);
  const waiting = await kubelet.pod('waits', (pod) => condition(pod, 'PodResizePending') !== undefined);
  assert.equal(condition(waiting, 'PodResizePending')!.reason, 'Deferred');
  assert.equal(main(waiting).resources?.requests?.cpu, '10m');
  await kubelet.until('the event is published', () => reasonsOf('waits').includes('ResizeDeferred'));
  await write('new', '{requests: {cpu: 50m}}'); // admitted, because the deferred resize reserves nothing
  await kubelet.pod('new', isReady);
  await kubelet.remove('other.yaml');
  const given = await kubelet.pod('waits', isResized('cpu', `${half + 100}m`));
  assert.deepEqual([condition(given, 'PodResizePending'), main(given).restartCount], [undefined, 0]);
  await write('waits', `{requests: {cpu: '${half}'}}`);
  await kubelet.pod('waits', (pod) => condition(pod, 'PodResizePending')?.reason === 'Infeasible');
});

/**
 * Replaces the kubelet with one in a separate process, kills that one once `change` has taken effect, runs `whileNoneRuns`, and starts a
 * new one.
 */
async function withKilledKubelet(change: () => Promise<void>, whileNoneRuns: () => Promise<void>): Promise<void> {
  await kubelet.handle.close();
  const child = await startKubeletChild(kubelet.options);
  try {
    await change();
  } finally {
    await killKubelet(child);
  }
  await whileNoneRuns();
  kubelet.handle = await startKubelet(kubelet.options);
  await kubelet.handle.sourcesReady;
}

for (const [name, first, second] of [
  ['shrunk', 100, 60],
  ['grown', 60, 200],
] as const) {
  test(`a pod that was ${name} before its kubelet was killed gets its first limits again with its first manifest`, async () => {
    const sized = (mebibytes: number) => write(name, `{limits: {cpu: ${mebibytes}m, memory: ${mebibytes}Mi}}`);
    const limits = (mebibytes: number) =>
      Array(2)
        .fill([String(mebibytes * 100), String(mebibytes << 20)])
        .join();
    await sized(first);
    const pod = await kubelet.pod(name, isReady);
    const has = (mebibytes: number) => () => limitsOf(pod).join() === limits(mebibytes);
    assert.ok(has(first)());
    const change = async () => {
      await sized(second);
      await kubelet.until('the pod is resized', has(second));
    };
    await withKilledKubelet(change, () => sized(first));
    await kubelet.until('the pod has its first limits', has(first));
    const now = await kubelet.pod(name, isResized('memory', `${first}Mi`));
    assert.deepEqual([main(now).containerID, main(now).restartCount], [main(pod).containerID, 0]);
  });
}

test('a pod resized before its kubelet was killed keeps its resources, and a new pod does not get them', async () => {
  for (const file of readdirSync(kubelet.options.manifestDir)) await kubelet.remove(file); // other pods have requests too
  await kubelet.until('the other pods are removed', () => kubelet.handle.pods().length === 0);
  const half = availableParallelism() * 500;
  await write('large', '{limits: {cpu: 50m, memory: 32Mi}}');
  const pod = await kubelet.pod('large', isReady);
  const large = `{requests: {cpu: ${half + 100}m, memory: 32Mi}, limits: {cpu: ${half + 100}m, memory: 32Mi}}`;
  const change = async () => {
    await write('large', large);
    await kubelet.until('the pod is resized', () => limitsOf(pod)[1]![0] === String((half + 100) * 100));
  };
  await withKilledKubelet(change, () => write('late', `{requests: {cpu: ${half}m}}`));
  await kubelet.pod('late', ({ status }) => status?.reason === 'OutOfcpu');
  const now = await kubelet.pod('large', isResized('cpu', `${half + 100}m`));
  assert.equal(condition(now, 'PodResizePending'), undefined);
  assert.ok(!reasonsOf('large').some((reason) => reason.startsWith('Resize')), reasonsOf('large').join());
});
