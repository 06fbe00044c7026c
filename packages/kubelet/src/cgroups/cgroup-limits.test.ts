import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CgroupLimits } from '@podwright/host';
import type { Pod, PodSpec, ResourceRequirements } from '@podwright/kube-api';
import type { ResourcePolicy } from '@podwright/kubelet-configuration';
import { DEFAULT_RESOURCE_POLICY } from '../../../kubelet-configuration/src/options/resource-policy.ts';
import { allPodsLimits, allPodsReservation, burstableLimits, podCgroupLimits } from './cgroup-limits.ts';
import { reservedLimits } from './reserved-cgroups.ts';

const settings = { policy: DEFAULT_RESOURCE_POLICY, hugePageSizes: [] };
const both = { cpu: '500m', memory: '1Gi' };
const GIBIBYTE = 2 ** 30;

function podOf(all: ResourceRequirements[], spec: Partial<PodSpec> = {}): Pod {
  const containers = all.map((resources, index) => ({ name: `c${index}`, image: 'i', resources }));
  const metadata = { name: 'p', namespace: 'd', uid: 'u' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec } };
}

function check(pod: Pod, expected: Partial<CgroupLimits>, given: Partial<Parameters<typeof podCgroupLimits>[1]> = {}) {
  const limits = podCgroupLimits(pod, { ...settings, ...given });
  const wanted = Object.keys(expected) as (keyof CgroupLimits)[];
  assert.deepEqual(Object.fromEntries(wanted.map((name) => [name, limits[name]])), expected);
}

test('a pod’s cgroup limits are the sum of its containers, or the peak of its init containers', () => {
  const initContainers = [{ name: 'i', image: 'i', resources: { limits: { cpu: '3', memory: '1Gi' } } }];
  check(podOf([{ limits: both }, { limits: both }], { initContainers }), {
    cpuShares: 3072,
    cpuPeriodUs: 100_000,
    cpuQuotaUs: 300_000,
    memoryLimitBytes: 2 * GIBIBYTE,
    pidsLimit: -1,
    hugepageLimits: {},
    unified: {},
  });
});

test("a pod's cgroup is unlimited unless every container has a limit", () => {
  check(podOf([{ limits: both }, {}]), { cpuShares: 512, cpuQuotaUs: -1, memoryLimitBytes: -1 });
  check(podOf([{}]), { cpuShares: 2, cpuQuotaUs: -1, memoryLimitBytes: -1 });
});

test('the node’s settings limit a pod’s processes and set its CFS period', () => {
  check(podOf([{}]), { pidsLimit: 4096 }, { pidsPerPod: 4096 });
  const pod = podOf([{ limits: both }]);
  const policy = { ...DEFAULT_RESOURCE_POLICY, cpuCfsQuotaPeriodMicros: 10_000 };
  check(pod, { cpuPeriodUs: 10_000, cpuQuotaUs: 5000 }, { policy });
  check(pod, { cpuPeriodUs: 10_000, cpuQuotaUs: -1 }, { policy: { ...policy, cpuCfsQuota: false } });
});

test('a pod may use the huge pages in its limits, but none of other sizes', () => {
  const pod = podOf([{ limits: { ...both, 'hugepages-2Mi': '4Mi' } }, { limits: { 'hugepages-2048Ki': '2Mi' } }]);
  check(pod, { hugepageLimits: { '1GB': 0, '2MB': 2 << 20 } }, { hugePageSizes: ['1GB', '2MB'] });
});

test('with MemoryQoS, pods and their parent cgroups protect the requested memory', () => {
  const qos = (reservation: 'None' | 'TieredReservation'): ResourcePolicy => ({
    ...DEFAULT_RESOURCE_POLICY,
    memoryQos: { throttlingFactor: 0.9, reservation },
  });
  const tiered = qos('TieredReservation');
  check(podOf([{ limits: both }]), { unified: { 'memory.min': String(GIBIBYTE) } }, { policy: tiered });
  check(podOf([{ requests: both }]), { unified: { 'memory.low': String(GIBIBYTE) } }, { policy: tiered });
  check(podOf([{}]), { unified: {} }, { policy: tiered });
  check(podOf([{ limits: both }]), { unified: {} }, { policy: qos('None') });
  const requests = { milliCpu: 1500n, memoryBytes: 4096n };
  assert.deepEqual(burstableLimits(requests, settings.policy), { cpuShares: 1536 });
  assert.deepEqual(burstableLimits(requests, tiered), { cpuShares: 1536, unified: { 'memory.low': '4096' } });
  assert.deepEqual(burstableLimits(requests, qos('None')), { cpuShares: 1536, unified: { 'memory.low': '0' } });
  assert.deepEqual(allPodsReservation(8192n, tiered), { unified: { 'memory.min': '8192' } });
  assert.equal(allPodsReservation(8192n, settings.policy), undefined);
});

test('the total CPU weight of all pods matches their allocatable CPU', () => {
  assert.deepEqual(allPodsLimits(1500n, { memoryBytes: 1, pids: 2 }), {
    cpuShares: 1536,
    memoryLimitBytes: 1,
    pidsLimit: 2,
  });
  assert.deepEqual(allPodsLimits(4000n, undefined), { cpuShares: 4096, memoryLimitBytes: -1, pidsLimit: -1 });
});

test('a reserved cgroup is limited to its reservation, or only its CPU with compressibleOnly', () => {
  const reserved = { owner: 'Kube', cgroup: '/k', milliCpu: 500, memoryBytes: 4096, compressibleOnly: false } as const;
  assert.deepEqual(reservedLimits(reserved, false), { cpuShares: 512, memoryLimitBytes: 4096 });
  assert.deepEqual(reservedLimits({ ...reserved, compressibleOnly: true }, true), { cpuShares: 512 });
  assert.deepEqual(reservedLimits({ owner: 'System', cgroup: '/s', memoryBytes: 1, compressibleOnly: false }, true), {
    memoryLimitBytes: 1,
    unified: { 'memory.min': '1' },
  });
});
