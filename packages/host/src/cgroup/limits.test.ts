import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CgroupHierarchy } from './hierarchy.ts';
import { type CgroupLimits, cpuWeightOfShares, limitWrites } from './limits.ts';

const v2: CgroupHierarchy = {
  mode: 'v2',
  trees: [{ version: 2, mountPoint: '/c', controllers: ['cpu', 'cpuset', 'memory', 'pids', 'hugetlb', 'io'] }],
};
const v1: CgroupHierarchy = {
  mode: 'v1',
  trees: ['cpu', 'cpuset', 'memory', 'pids', 'hugetlb'].map((name) => ({
    version: 1,
    mountPoint: `/c/${name}`,
    controllers: [name],
  })),
};

const writes = (hierarchy: CgroupHierarchy, limits: CgroupLimits) =>
  Object.fromEntries(limitWrites(hierarchy, limits).map(({ file, value }) => [file, value]));

test('shares are converted to weights like in the OCI runtimes', () => {
  const check = (shares: number, weight: number) => assert.equal(cpuWeightOfShares(shares), weight, String(shares));
  check(2, 1);
  check(1024, 39);
  check(262_144, 10_000);
  check(0, 1);
  check(1_000_000, 10_000);
});

test('limits are converted to cgroup v1 and v2 files', () => {
  const limits: CgroupLimits = {
    cpuShares: 512,
    cpuQuotaUs: 50_000,
    memoryLimitBytes: 100,
    memorySwapLimitBytes: 150,
    pidsLimit: -1,
    hugepageLimits: { '2MB': 0 },
    cpusetCpus: '0-1',
    unified: { 'memory.high': '90', 'nothing.here': '1' },
  };
  assert.deepEqual(writes(v1, limits), {
    'cpu.shares': '512',
    'cpu.cfs_quota_us': '50000',
    'cpuset.cpus': '0-1',
    'memory.limit_in_bytes': '100',
    'memory.memsw.limit_in_bytes': '150',
    'pids.max': 'max',
    'hugetlb.2MB.limit_in_bytes': '0',
  });
  assert.deepEqual(writes(v2, limits), {
    'cpu.weight': '20',
    'cpu.max': '50000 100000',
    'cpuset.cpus': '0-1',
    'memory.max': '100',
    'memory.swap.max': '50',
    'pids.max': 'max',
    'hugetlb.2MB.max': '0',
    'memory.high': '90',
  });
});

test('unlimited is written in each version’s format, and unset limits are not written', () => {
  assert.deepEqual(writes(v1, { memoryLimitBytes: -1, cpuQuotaUs: -1 }), {
    'cpu.cfs_quota_us': '-1',
    'memory.limit_in_bytes': '-1',
  });
  assert.deepEqual(writes(v2, { memoryLimitBytes: -1, memorySwapLimitBytes: -1, cpuPeriodUs: 20_000 }), {
    'cpu.max': 'max 20000',
    'memory.max': 'max',
    'memory.swap.max': 'max',
  });
  assert.deepEqual(writes(v2, {}), {});
});

test('limits of controllers missing on the host are ignored', () => {
  assert.deepEqual(writes({ mode: 'v1', trees: [] }, { pidsLimit: 3 }), {});
});
