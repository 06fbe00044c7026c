import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { FrozenOptions, FrozenPodStats } from '../stats/frozen-stats.ts';
import { FrozenLimits } from './frozen-limits.ts';
import { type GivenUse, podOf, statsOf } from './pods.fixture.ts';

const limited = podOf('a', { limits: { 'ephemeral-storage': '10Mi' } });
const sized = podOf('b', { spec: { containers: [], volumes: [{ name: 'v', emptyDir: { sizeLimit: '10Mi' } }] } });

/**
 * Starts frozen measurements of pods with the given usage, with a clock controlled by the test. `check` returns the pods found to exceed a
 * limit.
 */
function start(t: TestContext, frozen: (maxMs: number) => (GivenUse & { tookMs?: number }) | undefined) {
  let nowMs = 1_000_000;
  t.mock.method(performance, 'now', () => nowMs);
  const measured: string[] = [];
  const frozenPodStats = async (
    { metadata: { name } }: typeof limited,
    { maxMs }: FrozenOptions,
  ): Promise<FrozenPodStats | undefined> => {
    const use = frozen(maxMs);
    measured.push(`${name} ${maxMs}`);
    nowMs += use?.tookMs ?? 0;
    return use && { stats: statsOf(name, use), emptyDirs: new Map([['v', (use.volume ?? 0) << 20]]) };
  };
  const deps = {
    frozenPodStats,
    isExempt: ({ metadata }: typeof limited) => metadata.name === 'vital',
    logger: silentLogger,
  };
  const limits = new FrozenLimits(deps, new AbortController().signal);
  const check = async (pods: (typeof limited)[], passedMs = 0) => {
    nowMs += passedMs;
    measured.length = 0;
    for (const pod of pods) limits.note(pod);
    const found: string[] = [];
    await limits.check('shared', (pod, { signal }) => void found.push(`${pod.metadata.name} ${signal}`));
    return { found, measured: [...measured] };
  };
  return { limits, check };
}

test('a pod that exceeds a limit while frozen is detected, and a critical pod is not frozen', async (t) => {
  const { check } = start(t, () => ({ volume: 20 }));
  const { found, measured } = await check([limited, sized, podOf('vital')]);
  assert.deepEqual(found, ['a ephemeralpodfs.limit', 'b emptydirfs.limit']);
  assert.deepEqual(measured, ['a 300', 'b 300']);
});

test('a pod is frozen about once a minute, and less often if freezing takes long', async (t) => {
  let tookMs = 0;
  const { check } = start(t, () => ({ volume: 1, tookMs }));
  assert.deepEqual(await check([limited]), { found: [], measured: ['a 300'] });
  assert.deepEqual((await check([limited], 29_000)).measured, []);
  tookMs = 1000;
  assert.deepEqual((await check([], 70_000)).measured, ['a 300'], 'the pod had been noted before');
  assert.deepEqual((await check([], 1_000_000)).measured, []);
  assert.deepEqual((await check([limited], 0)).measured, ['a 300']);
  assert.deepEqual((await check([limited], 95_000)).measured, []);
});

test('a pod that cannot be measured within its frozen time is frozen longer next time, and others are not', async (t) => {
  const { check } = start(t, (maxMs) => ({ volume: maxMs < 1000 ? 1 : 20, isPartial: maxMs < 1000 }));
  assert.deepEqual(await check([limited]), { found: [], measured: ['a 300'] });
  const second = await check([limited], 100_000);
  assert.deepEqual(second, { found: ['a ephemeralpodfs.limit'], measured: ['a 1500'] });
});

test('terminated pods are not frozen', async (t) => {
  const { limits, check } = start(t, () => ({ volume: 20 }));
  limits.note(limited);
  limits.keep([sized]);
  assert.deepEqual((await check([sized])).measured, ['b 300']);
});
