import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { DEFAULT_RESOURCE_POLICY } from '../../../kubelet-configuration/src/options/resource-policy.ts';
import type { CgroupDriver, CgroupName } from './cgroup-driver.ts';
import { CgroupfsDriver } from './cgroupfs-driver.ts';
import { KubeletCgroups } from './kubelet-cgroups.ts';
import { SystemdDriver, sliceProperties } from './systemd-driver.ts';

function check(top: string[], cgroup: CgroupName, expected: string): void {
  const driver = new SystemdDriver({ top, hierarchy: { mode: 'v2', trees: [] } });
  assert.equal(driver.path(cgroup), expected);
}

test('slices have the same names as in upstream’s kubelet', () => {
  const kubepods = ['kubepods'];
  check(
    kubepods,
    ['besteffort', 'pod1-2-3'],
    '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2_3.slice',
  );
  check(kubepods, ['pod1-2-3'], '/kubepods.slice/kubepods-pod1_2_3.slice');
  check(['my-node', 'kubepods'], ['pod1'], '/my_node.slice/my_node-kubepods.slice/my_node-kubepods-pod1.slice');
});

test('the cgroup of all pods is a path in the hierarchy with either driver', () => {
  const hierarchy = { mode: 'v2' as const, trees: [] };
  const settings = { limits: {}, milliCpu: 1000n, policy: DEFAULT_RESOURCE_POLICY, hugePageSizes: [] };
  const allPods = (driver: CgroupDriver) =>
    new KubeletCgroups({ driver, hierarchy, settings, logger: silentLogger }).allPods;
  const systemd = new SystemdDriver({ top: ['podwright', 'kubepods'], hierarchy });
  assert.equal(allPods(systemd), '/podwright.slice/podwright-kubepods.slice');
  const cgroupfs = new CgroupfsDriver({ hierarchy, root: '/podwright/kubepods', logger: silentLogger });
  assert.equal(allPods(cgroupfs), '/podwright/kubepods');
});

test('limits become slice properties', () => {
  const limits = { cpuShares: 512, cpuPeriodUs: 100_000, cpuQuotaUs: 50_000, memoryLimitBytes: 64 << 20 };
  assert.deepEqual(sliceProperties({ ...limits, pidsLimit: 100 }), {
    CPUWeight: 20n,
    CPUQuotaPerSecUSec: 500_000n,
    CPUQuotaPeriodUSec: 100_000n,
    MemoryMax: 64n << 20n,
    TasksMax: 100n,
  });
  assert.deepEqual(sliceProperties({ cpuShares: 2, cpuPeriodUs: 10_000, cpuQuotaUs: -1, memoryLimitBytes: -1 }), {
    CPUWeight: 1n,
    CPUQuotaPerSecUSec: undefined,
    CPUQuotaPeriodUSec: 10_000n,
    MemoryMax: undefined,
  });
  assert.deepEqual(sliceProperties({ unified: { 'memory.min': '4096', 'memory.low': '0' } }), {
    MemoryMin: 4096n,
    MemoryLow: 0n,
  });
  const fine = sliceProperties({ cpuPeriodUs: 100_000, cpuQuotaUs: 12_345 });
  assert.equal(fine.CPUQuotaPerSecUSec, 130_000n, 'systemd rounds to hundredths of a CPU');
});
