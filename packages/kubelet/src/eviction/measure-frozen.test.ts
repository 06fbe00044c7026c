import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { FrozenOptions } from '../stats/frozen-stats.ts';
import { isDoubtful, measureFrozen } from './measure-frozen.ts';
import { type GivenUse, podOf, statsOf } from './pods.fixture.ts';
import type { Resource } from './rank-pods.ts';
import { RecentUse } from './recent-use.ts';

const resource: Resource = { signal: 'nodefs.available', layout: 'shared' };
const long = Date.now() - 100_000;

type Given = { use: GivenUse; frozen?: (maxMs: number) => GivenUse | 'unfreezable' | 'hangs' };

/** Measures pods with the given usage while they are frozen. Returns how they were frozen and the usage known afterwards. */
async function measured(given: Record<string, Given>, { exempt = '', rankMs = 5000, of = resource } = {}) {
  const recentUse = new RecentUse(60_000);
  recentUse.add(
    Object.entries(given).map(([name, { use }]) => statsOf(name, use)),
    performance.now(),
  );
  const pods = Object.keys(given).map((name) => podOf(name));
  const frozen: string[] = [];
  const frozenPodStats = async ({ metadata: { name } }: { metadata: { name: string } }, { maxMs }: FrozenOptions) => {
    frozen.push(`${name} ${maxMs}`);
    const use = given[name]?.frozen?.(maxMs) ?? 'unfreezable';
    if (use === 'hangs') return await new Promise<never>(() => undefined);
    return use === 'unfreezable' ? undefined : { stats: statsOf(name, use), emptyDirs: new Map() };
  };
  const { signal: stopping } = new AbortController();
  const podStats = async () => [];
  const isExempt = ({ metadata }: { metadata: { name: string } }) => metadata.name === exempt;
  const input = { rankMs, recentUse, stopping, podStats, frozenPodStats, isExempt, logger: silentLogger };
  await measureFrozen(input, recentUse.atPeakUse(pods, of, 0), of);
  const known = recentUse
    .atPeakUse(pods, resource, 0)
    .map(({ pod, stats }) => `${pod.metadata.name} ${(stats?.disks?.kubelet.bytes ?? 0) >> 20} ${stats?.isPartial}`);
  return { frozen, known };
}

test('usage is doubtful if it was partially measured, changed recently, or has an unknown time of last change', () => {
  const now = 200_000;
  const check = (expected: boolean, stats: Parameters<typeof isDoubtful>[0]) =>
    assert.equal(isDoubtful(stats, now), expected);
  check(true, { isPartial: true, changedAtMs: 0 });
  check(true, {});
  check(true, { changedAtMs: now });
  check(false, { changedAtMs: now - 100_000 });
});

test('pods with recently changed files are measured while frozen, the largest first', async () => {
  const { frozen, known } = await measured(
    {
      idle: { use: { volume: 90, changedAtMs: long } },
      mover: { use: { volume: 1, changes: 'directories' }, frozen: () => ({ volume: 200, changes: 'none' }) },
      writer: { use: { volume: 5, changes: 'files' }, frozen: () => ({ volume: 5 }) },
      critical: { use: { volume: 50 } },
    },
    { exempt: 'critical' },
  );
  assert.deepEqual(frozen, ['writer 300', 'mover 300']);
  assert.deepEqual(known, ['idle 90 false', 'mover 200 false', 'writer 5 false', 'critical 50 false']);
});

test('a pod that moves files is partial if it cannot be frozen, and one that only writes files is not', async () => {
  const { known } = await measured({
    mover: { use: { volume: 1, changes: 'directories' } },
    writer: { use: { volume: 5, changes: 'files' } },
  });
  assert.deepEqual(known, ['mover 1 true', 'writer 5 false']);
});

test('a pod that was not measured completely while frozen is frozen longer, once', async () => {
  const { frozen, known } = await measured({
    large: {
      use: { volume: 9, isPartial: true },
      frozen: (maxMs) => ({ volume: maxMs / 10, isPartial: maxMs < 1000 }),
    },
    huge: { use: { volume: 8, isPartial: true }, frozen: () => ({ volume: 1, isPartial: true }) },
  });
  assert.deepEqual(frozen, ['large 300', 'huge 300', 'large 1500', 'huge 1500']);
  assert.deepEqual(known, ['large 150 false', 'huge 8 true']);
});

test('measuring frozen pods ends at the deadline', async () => {
  const given = { a: { use: { volume: 9 } }, b: { use: { volume: 8 } } };
  const { frozen } = await measured({ ...given, hung: { use: { volume: 10 }, frozen: () => 'hangs' } }, { rankMs: 1 });
  assert.deepEqual(frozen, ['hung 300']);
});

test('no pod is frozen for memory or PID pressure', async () => {
  const given = { a: { use: { memory: 1 }, frozen: () => ({ memory: 1 }) } };
  for (const signal of ['memory.available', 'pid.available'] as const)
    assert.deepEqual((await measured(given, { of: { ...resource, signal } })).frozen, []);
});
