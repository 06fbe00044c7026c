import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Container, type Pod, qosClass, type ResourceRequirements } from '@podwright/kube-api';
import type { ContainerEnforcement } from './container-enforcement.ts';
import { containerResources } from './container-resources.ts';
import { fakeNode } from './dependencies.fixture.ts';

const GIBIBYTE = 1n << 30n;
const node = fakeNode({ memoryCapacity: 10n * GIBIBYTE });

function podOf(containers: Container[], initContainers: Container[] = []): Pod {
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, initContainers } };
}

const withResources = (name: string, resources?: ResourceRequirements): Container => ({ name, image: 'i', resources });
const both = { cpu: '500m', memory: '1Gi' };

test('the QoS class is derived from the limits and requests of all containers', () => {
  const table: [ResourceRequirements | undefined, string][] = [
    [undefined, 'BestEffort'],
    [{ requests: { cpu: '0' } }, 'BestEffort'],
    [{ requests: { 'ephemeral-storage': '1Gi' } }, 'BestEffort'],
    [{ limits: both }, 'Guaranteed'],
    [{ limits: both, requests: { cpu: '0.5', memory: '1024Mi' } }, 'Guaranteed'],
    [{ limits: both, requests: { cpu: '100m' } }, 'Burstable'],
    [{ limits: { cpu: '1' } }, 'Burstable'],
    [{ requests: { memory: '1Mi' } }, 'Burstable'],
  ];
  for (const [resources, expected] of table) assert.equal(qosClass(podOf([withResources('a', resources)])), expected);
  assert.equal(qosClass(podOf([withResources('a', { limits: both })], [withResources('i')])), 'Burstable');
});

test('CPU is converted to shares and quota, memory to a limit', () => {
  const container = withResources('a', { requests: { cpu: '250m' }, limits: { cpu: '2', memory: '64Mi' } });
  const resources = containerResources(podOf([container]), container, node);
  assert.equal(resources.cpuShares, 256n);
  assert.equal(resources.cpuPeriod, 100_000n);
  assert.equal(resources.cpuQuota, 200_000n);
  assert.equal(resources.memoryLimitInBytes, 64n << 20n);
});

test('without requests a container gets minimum shares and no quota; requests default to limits', () => {
  const bare = withResources('a');
  const none = containerResources(podOf([bare]), bare, node);
  assert.deepEqual([none.cpuShares, none.cpuPeriod, none.cpuQuota, none.memoryLimitInBytes], [2n, 100_000n, 0n, 0n]);
  const limited = withResources('a', { limits: { cpu: '1' } });
  assert.equal(containerResources(podOf([limited]), limited, node).cpuShares, 1024n);
});

test('the OOM score decreases with the memory request', () => {
  const score = (container: Container, pod = podOf([container])) =>
    Number(containerResources(pod, container, node).oomScoreAdj);
  assert.equal(score(withResources('a')), 1000);
  assert.equal(score(withResources('a', { limits: both })), -997);
  assert.equal(score(withResources('a', { requests: { memory: '1Gi' } })), 900);
  assert.equal(score(withResources('a', { requests: { memory: '1Mi' } })), 999);
  assert.equal(score(withResources('a', { requests: { memory: '10Gi' } })), 3);
  const critical = podOf([withResources('a')]);
  critical.spec.priority = 2_000_001_000;
  assert.equal(
    score(critical.spec.containers[0]!, critical),
    1000,
    'only the name of the priority class makes a pod node-critical',
  );
  critical.spec = { ...critical.spec, priority: undefined, priorityClassName: 'system-node-critical' };
  assert.equal(score(critical.spec.containers[0]!, critical), -997);
});

test('a sidecar is not OOM-killed before the containers that it serves', () => {
  const sidecar: Container = { ...withResources('s', { requests: { memory: '1Mi' } }), restartPolicy: 'Always' };
  const pod = podOf([withResources('a', { requests: { memory: '5Gi' } })], [sidecar]);
  assert.equal(containerResources(pod, sidecar, node).oomScoreAdj, 500n);
  pod.spec.containers.push(withResources('b', { requests: { memory: '1Gi' } }));
  assert.equal(containerResources(pod, sidecar, node).oomScoreAdj, 900n, 'the same as the first ordinary container');
});

test('a container defaults to pod-level limits, and gets a share of pod-level requests', () => {
  const own = withResources('a', { requests: { memory: '1Gi' } });
  const pod = podOf([own, withResources('b', { requests: { cpu: '100m' }, limits: { cpu: '200m' } })]);
  pod.spec.resources = { requests: { memory: '3Gi' }, limits: { cpu: '2', memory: '4Gi', 'hugepages-2Mi': '2Mi' } };
  const { host } = fakeNode({ memoryCapacity: 10n * GIBIBYTE, hugePageSizes: ['2MB'], countsSwap: true });
  const [a, b] = pod.spec.containers.map((container) => containerResources(pod, container, { ...node, host }));
  assert.deepEqual([a?.cpuShares, a?.cpuQuota, a?.memoryLimitInBytes], [2048n, 200_000n, 4n * GIBIBYTE]);
  assert.deepEqual([b?.cpuShares, b?.cpuQuota, b?.memoryLimitInBytes], [102n, 20_000n, 4n * GIBIBYTE]);
  assert.equal(a?.memorySwapLimitInBytes, 4n * GIBIBYTE);
  assert.equal(a?.hugepageLimits[0]?.limit, 2n << 20n);
  assert.deepEqual([a?.oomScoreAdj, b?.oomScoreAdj], [800n, 900n]);
});

test('on cgroup v2 all processes of a container are OOM-killed together', () => {
  const container = withResources('a', { limits: both });
  const { unified } = containerResources(podOf([container]), container, fakeNode({ cgroupV2: true }));
  assert.deepEqual(unified, { 'memory.oom.group': '1' });
  assert.deepEqual(containerResources(podOf([container]), container, node).unified, {}, 'v1 has no such file');
  const single = fakeNode({ cgroupV2: true }, { singleProcessOomKill: true });
  assert.deepEqual(containerResources(podOf([container]), container, single).unified, {});
});

test('a CPU limit uses the configured period, or is not enforced', () => {
  const container = withResources('a', { limits: { cpu: '2' } });
  const check = (given: ContainerEnforcement, expected: bigint[]) => {
    const { cpuPeriod, cpuQuota } = containerResources(podOf([container]), container, given);
    assert.deepEqual([cpuPeriod, cpuQuota], expected);
  };
  check(node, [100_000n, 200_000n]);
  check(fakeNode({}, { cpuCfsQuotaPeriodMicros: 10_000 }), [10_000n, 20_000n]);
  check(fakeNode({}, { cpuCfsQuota: false }), [0n, 0n]);
});

test('huge pages are limited by size, to zero if no limit is set', () => {
  const host = fakeNode({ hugePageSizes: ['1GB', '2MB'] });
  const limits = (own: Record<string, string>) => {
    const container = withResources('a', { limits: { ...both, ...own } });
    const { hugepageLimits } = containerResources(podOf([container]), container, host);
    return hugepageLimits.map(({ pageSize, limit }) => `${pageSize}=${limit}`);
  };
  assert.deepEqual(limits({}), ['1GB=0', '2MB=0']);
  assert.deepEqual(limits({ 'hugepages-2Mi': '4Mi' }), ['1GB=0', '2MB=4194304']);
  assert.deepEqual(limits({ 'hugepages-2048Ki': '4Mi', 'hugepages-1Gi': '1Gi' }), ['1GB=1073741824', '2MB=4194304']);
  assert.deepEqual(limits({ 'hugepages-64Ki': '64Ki' }), ['1GB=0', '2MB=0'], 'a size that the host does not have');
});

test('the OOM score is raised to the lowest one that the kernel allows', () => {
  const container = withResources('a', { limits: both });
  const score = (least: bigint) =>
    containerResources(podOf([container]), container, fakeNode({ leastOomScoreAdj: least })).oomScoreAdj;
  assert.equal(score(0n), 0n);
  assert.equal(score(-999n), -997n);
});

test('the swap limit depends on the swap behavior and the memory share', () => {
  const check = (
    resources: ResourceRequirements,
    given: ContainerEnforcement,
    expected: { total?: bigint; file?: string },
    priorityClassName?: string,
  ) => {
    const container = withResources('a', resources);
    const pod = podOf([container]);
    pod.spec.priorityClassName = priorityClassName;
    const { memorySwapLimitInBytes: total, unified } = containerResources(pod, container, given);
    assert.deepEqual([total, unified['memory.swap.max']], [expected.total ?? 0n, expected.file]);
  };
  const half = { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } };
  const v2 = { memoryCapacity: 10n * GIBIBYTE, swapCapacity: 5n * GIBIBYTE, cgroupV2: true, countsSwap: true };
  const limited = fakeNode(v2, { swapBehavior: 'LimitedSwap' });
  check(half, fakeNode({ countsSwap: true }), { total: 2n * GIBIBYTE });
  check(half, fakeNode(), {});
  check(half, fakeNode(v2), { file: '0' });
  check(half, limited, { file: String(GIBIBYTE / 2n) });
  check(half, limited, { file: '0' }, 'system-cluster-critical');
  check({ limits: both }, limited, { file: '0' });
  check({ requests: { cpu: '1' } }, limited, { file: '0' });
  check({ requests: { memory: '1Gi' }, limits: { memory: '1Gi' } }, limited, { file: '0' });
  check({ requests: { memory: '20Gi' } }, limited, { file: '0' });
  check(half, fakeNode({ ...v2, countsSwap: false }, { swapBehavior: 'LimitedSwap' }), {});
});

test('with memory QoS a container is throttled below its limit, and its request is protected', () => {
  const check = (resources: ResourceRequirements, reservation: 'None' | 'TieredReservation', expected: object) => {
    const container = withResources('a', resources);
    const host = { cgroupV2: true, memoryCapacity: 10n * GIBIBYTE, allocatableMemory: 10n * GIBIBYTE };
    const given = fakeNode(host, { memoryQos: { throttlingFactor: 0.9, reservation } });
    const { 'memory.oom.group': _, ...files } = containerResources(podOf([container]), container, given).unified;
    assert.deepEqual(files, expected);
  };
  const open = { 'memory.min': '0', 'memory.low': '0' };
  const half = { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } };
  check(half, 'None', { ...open, 'memory.high': '2040107008' });
  check(half, 'TieredReservation', { 'memory.low': '1073741824', 'memory.high': '2040107008' });
  check({ limits: both }, 'TieredReservation', { 'memory.min': '1073741824' });
  check({ requests: { memory: '1Gi' } }, 'None', { ...open, 'memory.high': '9771048960' });
  check({}, 'None', open);
});
