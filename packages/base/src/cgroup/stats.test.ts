import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { CgroupHierarchy } from './hierarchy.ts';
import { readOomKills } from './oom.ts';
import { readCgroupStats } from './stats.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cgroup-stats-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes the files of cgroup `/pod/c` in the tree below `folder`. */
function record(folder: string, files: Record<string, string>): void {
  const directory = join(root, folder, 'pod/c');
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}

const v1Tree = (name: string, controllers = [name]) => ({
  version: 1 as const,
  mountPoint: join(root, name),
  controllers,
});

test('v2 statistics are read from one tree', async () => {
  const trees = [{ version: 2 as const, mountPoint: root, controllers: ['cpu', 'memory', 'pids', 'io'] }];
  record('.', {
    'cpu.stat':
      'usage_usec 5000\nuser_usec 3000\nsystem_usec 2000\nnr_periods 10\nnr_throttled 2\nthrottled_usec 70\nnr_bursts 0\n',
    'memory.current': '10000\n',
    'memory.max': 'max\n',
    'memory.swap.current': '30\n',
    'memory.swap.max': '0\n',
    'memory.stat': 'anon 4000\nfile 5000\nfile_mapped 100\ninactive_file 2500\npgfault 70\npgmajfault 7\n',
    'memory.events': 'low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n',
    'pids.current': '4\n',
    'pids.max': '100\n',
    'io.stat': '8:0 rbytes=100 wbytes=200 rios=1 wios=2 dbytes=9 dios=9\n8:16 rbytes=11 wbytes=22 rios=3 wios=4\n',
    'cpu.pressure':
      'some avg10=1.50 avg60=0.20 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n',
  });
  const hierarchy: CgroupHierarchy = { mode: 'v2', trees };
  const { readAtMs, ...stats } = await readCgroupStats(hierarchy, '/pod/c');
  assert.ok(Math.abs(readAtMs - Date.now()) < 5000);
  assert.deepEqual(stats, {
    cpu: {
      usageNanoseconds: 5_000_000,
      userNanoseconds: 3_000_000,
      systemNanoseconds: 2_000_000,
      periods: 10,
      throttledPeriods: 2,
      throttledNanoseconds: 70_000,
    },
    memory: {
      usageBytes: 10_000,
      workingSetBytes: 7_500,
      rssBytes: 4_000,
      cacheBytes: 5_000,
      mappedFileBytes: 100,
      swapBytes: 30,
      limitBytes: undefined,
      swapLimitBytes: undefined,
      pageFaults: 70,
      majorPageFaults: 7,
    },
    pids: { current: 4, limit: 100 },
    io: { readBytes: 111, writeBytes: 222, reads: 4, writes: 6 },
    pressure: {
      cpu: {
        some: { avg10: 1.5, avg60: 0.2, avg300: 0, totalMicroseconds: 1234 },
        full: { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 5 },
      },
    },
  });
  assert.equal(await readOomKills(hierarchy, '/pod/c'), 2);
});

test('v1 and hybrid statistics have the same form', async () => {
  record('cpuacct', {
    'cpuacct.usage': '5000000\n',
    'cpuacct.usage_user': '3000000\n',
    'cpuacct.usage_sys': '2000000\n',
  });
  record('cpu', { 'cpu.stat': 'nr_periods 10\nnr_throttled 2\nthrottled_time 70000\n' });
  record('memory', {
    'memory.usage_in_bytes': '10000\n',
    'memory.limit_in_bytes': '20000\n',
    'memory.memsw.usage_in_bytes': '10030\n',
    'memory.memsw.limit_in_bytes': '9223372036854771712\n',
    'memory.stat':
      'cache 1\nrss 1\ntotal_cache 5000\ntotal_rss 4000\ntotal_mapped_file 100\ntotal_pgfault 70\ntotal_pgmajfault 7\ntotal_inactive_file 2500\n',
    'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
  });
  record('pids', { 'pids.current': '4\n', 'pids.max': 'max\n' });
  record('blkio', {
    'blkio.throttle.io_service_bytes_recursive':
      '8:0 Read 100\n8:0 Write 200\n8:0 Sync 9\n8:16 Read 11\n8:16 Write 22\nTotal 333\n',
    'blkio.throttle.io_serviced_recursive': '8:0 Read 4\n8:0 Write 6\nTotal 10\n',
  });
  const unified = { version: 2 as const, mountPoint: join(root, 'unified'), controllers: ['hugetlb'] };
  const trees = [...['cpu', 'cpuacct', 'memory', 'pids', 'blkio'].map((name) => v1Tree(name)), unified];
  const hierarchy: CgroupHierarchy = { mode: 'hybrid', trees };
  const { cpu, memory, pids, io, pressure } = await readCgroupStats(hierarchy, '/pod/c');
  assert.equal(cpu?.usageNanoseconds, 5_000_000);
  assert.equal(cpu?.throttledNanoseconds, 70_000);
  assert.deepEqual(memory, {
    usageBytes: 10_000,
    workingSetBytes: 7_500,
    rssBytes: 4_000,
    cacheBytes: 5_000,
    mappedFileBytes: 100,
    swapBytes: 30,
    limitBytes: 20_000,
    swapLimitBytes: undefined,
    pageFaults: 70,
    majorPageFaults: 7,
  });
  assert.deepEqual(pids, { current: 4, limit: undefined });
  assert.deepEqual(io, { readBytes: 111, writeBytes: 222, reads: 4, writes: 6 });
  assert.equal(pressure, undefined);
  assert.equal(await readOomKills(hierarchy, '/pod/c'), 1);
});

test('a cgroup that is gone has no statistics', async () => {
  const hierarchy: CgroupHierarchy = { mode: 'v1', trees: [v1Tree('memory'), v1Tree('pids')] };
  const { memory, pids, cpu } = await readCgroupStats(hierarchy, '/gone');
  assert.deepEqual([memory, pids, cpu], [undefined, undefined, undefined]);
  assert.equal(await readOomKills(hierarchy, '/gone'), 0);
});
