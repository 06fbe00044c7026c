import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { CgroupMode } from './hierarchy.ts';
import { readOomKills } from './memory-stats.ts';
import { recordedCgroup, recordedHosts, writeRecordedHost } from './recorded-trees.fixture.ts';
import { type CgroupStats, readCgroupStats } from './stats.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cgroup-stats-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Expected statistics of the recorded container, which are the same on cgroup v1, v2 and hybrid hosts. */
const expected: Omit<CgroupStats, 'readAtMs'> = {
  cpu: {
    usageNanoseconds: 5_000_000,
    userNanoseconds: 3_000_000,
    systemNanoseconds: 2_000_000,
    periods: 100,
    throttledPeriods: 20,
    throttledNanoseconds: 70_000,
  },
  memory: {
    usageBytes: 12_288_000,
    peakBytes: 20_480_000,
    workingSetBytes: 10_240_000,
    rssBytes: 4_096_000,
    cacheBytes: 8_192_000,
    mappedFileBytes: 135_168,
    activeFileBytes: 1_024_000,
    inactiveFileBytes: 2_048_000,
    kernelBytes: 409_600,
    swapBytes: 100_000,
    limitBytes: 67_108_864,
    swapLimitBytes: 33_554_432,
    limitHits: 3,
    oomKills: 1,
    pageFaults: 7001,
    majorPageFaults: 12,
  },
  threads: { current: 4, limit: undefined },
  processes: 3,
  io: [
    { major: 8, minor: 0, readBytes: 100, writeBytes: 200, reads: 4, writes: 6 },
    { major: 254, minor: 16, readBytes: 11, writeBytes: 22, reads: 0, writes: 0 },
  ],
  hugepages: {
    '1GB': { usageBytes: 0, peakBytes: 0 },
    '2MB': { usageBytes: 4_194_304, peakBytes: 8_388_608 },
  },
  pressure: {
    cpu: {
      some: { avg10: 1.5, avg60: 0.2, avg300: 0.01, totalMicroseconds: 1234 },
      full: { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 5 },
    },
    memory: {
      some: { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 7 },
      full: { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 6 },
    },
    io: {
      some: { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 9 },
      full: { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 8 },
    },
  },
};

async function read(mode: CgroupMode, changes: Record<string, string | undefined> = {}) {
  const hierarchy = writeRecordedHost(root, recordedHosts[mode], changes);
  const { readAtMs, ...stats } = await readCgroupStats(hierarchy, recordedCgroup);
  assert.ok(Math.abs(readAtMs - Date.now()) < 60_000);
  return { hierarchy, stats };
}

const noPeaks = {
  '1GB': { usageBytes: 0, peakBytes: undefined },
  '2MB': { usageBytes: 4_194_304, peakBytes: undefined },
};

for (const [mode, different] of [
  ['v1', { pressure: undefined }],
  ['hybrid', {}],
  ['v2', { hugepages: noPeaks }],
] as const) {
  test(`statistics of the recorded container are read on a ${mode} host`, async () => {
    const { hierarchy, stats } = await read(mode);
    assert.deepEqual(stats, { ...expected, ...different });
    assert.equal(readOomKills(hierarchy, recordedCgroup), 1);
  });
}

test('unlimited resources have no limit in the stats', async () => {
  const v2 = await read('v2', { 'memory.max': 'max\n', 'memory.swap.max': 'max\n', 'pids.max': '100\n' });
  assert.deepEqual([v2.stats.memory?.limitBytes, v2.stats.memory?.swapLimitBytes], [undefined, undefined]);
  assert.equal(v2.stats.threads?.limit, 100);
  const none = '9223372036854771712\n';
  const v1 = await read('v1', { 'memory.limit_in_bytes': none, 'memory.memsw.limit_in_bytes': none });
  assert.deepEqual([v1.stats.memory?.limitBytes, v1.stats.memory?.swapLimitBytes], [undefined, undefined]);
});

test('a swap limit of 0 is reported even if memory is unlimited', async () => {
  const { stats } = await read('v2', { 'memory.max': 'max\n', 'memory.swap.max': '0\n' });
  assert.equal(stats.memory?.swapLimitBytes, 0);
});

test('stats missing in older kernels are absent, computed or zero', async () => {
  const changes = {
    'memory.peak': undefined,
    'memory.stat': 'anon 1\nfile 2\nkernel_stack 32768\npagetables 65536\npercpu 0\nslab 300000\n',
    'cpu.pressure': undefined,
    'memory.pressure': undefined,
    'io.pressure': undefined,
    'cpu.stat': 'usage_usec 5000\nuser_usec 3000\nsystem_usec 2000\n',
  };
  const { stats } = await read('v2', changes);
  assert.equal(stats.memory?.peakBytes, undefined);
  assert.equal(stats.memory?.kernelBytes, 398_304);
  assert.equal(stats.memory?.workingSetBytes, 12_288_000);
  assert.equal(stats.pressure, undefined);
  assert.equal(stats.cpu?.periods, 0);
});

test('without swap accounting, swap usage is 0 and has no limit', async () => {
  const { stats } = await read('v1', {
    'memory.memsw.usage_in_bytes': undefined,
    'memory.memsw.limit_in_bytes': undefined,
  });
  assert.deepEqual([stats.memory?.swapBytes, stats.memory?.swapLimitBytes], [0, undefined]);
});

test('a hybrid host reports no pressure for a cgroup without processes in the v2 tree', async () => {
  const { stats } = await read('hybrid', { 'cgroup.events': 'populated 0\nfrozen 0\n' });
  assert.equal(stats.pressure, undefined);
});

for (const mode of ['v1', 'hybrid', 'v2'] as const) {
  test(`a cgroup that does not exist has no statistics on a ${mode} host`, async () => {
    const { hierarchy } = await read(mode);
    const { readAtMs: _, io, hugepages, ...parts } = await readCgroupStats(hierarchy, '/gone');
    assert.deepEqual(
      Object.values(parts).filter((part) => part !== undefined),
      [],
    );
    assert.deepEqual([io, hugepages], [[], {}]);
    assert.equal(readOomKills(hierarchy, '/gone'), 0);
  });
}
