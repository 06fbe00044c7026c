import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerResources } from '../records/container-record.ts';
import { mergeResources } from './container-update.ts';

const resources: ContainerResources = {
  cpuPeriod: 100_000,
  cpuQuota: 50_000,
  cpuShares: 512,
  memoryLimitBytes: 1000,
  memorySwapLimitBytes: 0,
  oomScoreAdj: 900,
  cpusetCpus: '0-1',
  cpusetMems: '',
  hugepageLimits: [{ pageSize: '2MB', limitBytes: 0 }],
  unified: { 'memory.high': '900' },
};
const nothing: ContainerResources = {
  cpuPeriod: 0,
  cpuQuota: 0,
  cpuShares: 0,
  memoryLimitBytes: 0,
  memorySwapLimitBytes: 0,
  oomScoreAdj: 0,
  cpusetCpus: '',
  cpusetMems: '',
  hugepageLimits: [],
  unified: {},
};

test('fields that an update does not set stay unchanged', () => {
  assert.deepEqual(mergeResources(resources, nothing), resources);
  assert.deepEqual(mergeResources(nothing, resources), resources);
});

test('an update changes the fields it sets, and -1 counts as a value', () => {
  const changed = mergeResources(resources, { ...nothing, cpuQuota: -1, memoryLimitBytes: 2000, cpusetCpus: '1' });
  assert.deepEqual(changed, { ...resources, cpuQuota: -1, memoryLimitBytes: 2000, cpusetCpus: '1' });
});

test('removing the memory limit also removes the memory+swap limit, unless the update sets one', () => {
  const check = (memorySwapLimitBytes: number, expected: number) => {
    const changed = mergeResources(resources, { ...nothing, memoryLimitBytes: -1, memorySwapLimitBytes });
    assert.deepEqual([changed.memoryLimitBytes, changed.memorySwapLimitBytes], [-1, expected]);
  };
  check(0, -1);
  check(-1, -1);
  check(5000, 5000);
});

test('unified cgroup files are merged key by key', () => {
  const { unified } = mergeResources(resources, { ...nothing, unified: { 'memory.min': '1', 'memory.high': 'max' } });
  assert.deepEqual(unified, { 'memory.high': 'max', 'memory.min': '1' });
});
