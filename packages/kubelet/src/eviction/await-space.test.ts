import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Signal, thresholdsOf } from '@podwright/kubelet-configuration';
import { awaitSpace } from './await-space.ts';
import { EvictedSpace } from './evicted-space.ts';
import { type GivenUse, podOf, statsOf } from './pods.fixture.ts';

const SIGNAL: Signal = 'nodefs.available';
const MI = 1n << 20n;
const thresholds = thresholdsOf(
  { hard: { [SIGNAL]: '100Mi' }, soft: {}, softGracePeriod: {}, minimumReclaim: {} },
  { areHeldToAllocatable: false },
);

/**
 * Replaces the clock and timers: time advances only when something waits for it, and waits end immediately. Returns a function that returns
 * the current time.
 */
function virtualTime(t: TestContext): () => number {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.method(globalThis, 'setTimeout', (callback: () => void, delayMs: number) =>
    setImmediate(() => {
      nowMs += delayMs;
      callback();
    }),
  );
  return () => nowMs;
}

type Given = {
  /** The available disk space in MiB at a given time. The eviction threshold is 100. */
  available: (nowMs: number) => number;
  isPartial?: boolean;
  isDeleting?: (nowMs: number) => boolean;
  isRemoving?: (nowMs: number) => boolean;
  /** Usage of another, not evicted pod before and after the eviction; if `after` is unset, the usage after it cannot be measured. */
  other?: { before: GivenUse; after?: GivenUse };
};

/** Waits for the space of an evicted pod to be freed. Returns how long the wait took, in seconds. */
async function waited(t: TestContext, given: Given): Promise<number> {
  const { available, isPartial, isDeleting, isRemoving, other } = given;
  const now = virtualTime(t);
  const observe = async () => {
    const observed = { available: BigInt(available(now())) * MI, capacity: 1000n * MI, atMs: now() };
    return new Map([[SIGNAL, observed]]);
  };
  const evicted = [{ pod: podOf('a'), stats: statsOf('a', { volume: 50, isPartial }) }];
  const others = other === undefined ? [] : [{ pod: podOf('b'), stats: statsOf('b', other.before) }];
  const otherUse = async () => (other?.after === undefined ? [] : [statsOf('b', other.after)]);
  const disk = { resource: { signal: SIGNAL, layout: 'shared' } as const, available: 10n * MI, evicted, others };
  const { signal: stopping } = new AbortController();
  const signals = { observe };
  const isStillDeleting = () => isDeleting?.(now()) === true;
  await awaitSpace({ signals, isDeleting: isStillDeleting, otherUse, stopping }, thresholds, {
    space: new EvictedSpace([disk]),
    isRemoving: () => isRemoving?.(now()) === true,
  });
  t.mock.restoreAll();
  return now() / 1000;
}

test('the wait ends as soon as the disk is no longer short', async (t) => {
  assert.equal(await waited(t, { available: (nowMs) => (nowMs < 2000 ? 10 : 100), isPartial: true }), 2);
});

test('the wait for a pod with known usage ends once most of that space is available', async (t) => {
  assert.equal(await waited(t, { available: (nowMs) => (nowMs < 10_000 ? 10 : 60) }), 11);
  assert.ok((await waited(t, { available: () => 20 })) > 30);
});

test('the wait for a pod with unknown usage ends when no space has been freed for some seconds', async (t) => {
  const isPartial = true;
  assert.equal(await waited(t, { available: () => 10, isPartial }), 4);
  const grows = (nowMs: number) => 10 + Math.floor(Math.min(nowMs, 10_000) / 1000);
  assert.equal(await waited(t, { available: grows, isPartial }), 14);
});

test('the wait is extended while files or containers of a pod with unknown usage are being removed', async (t) => {
  const given = { available: () => 10, isPartial: true };
  for (const name of ['isDeleting', 'isRemoving'])
    assert.ok((await waited(t, { ...given, [name]: (nowMs: number) => nowMs < 20_000 })) > 23, name);
  assert.ok((await waited(t, { ...given, isRemoving: () => true })) < 31);
  const long = await waited(t, { ...given, isDeleting: () => true });
  assert.ok(long > 120 && long < 121);
});

test('space that another pod has taken counts as freed, even if that pod was only partially measured', async (t) => {
  const available = () => 10;
  const after = { volume: 150 };
  for (const [before, later] of [
    [{ volume: 100 }, after],
    [{ volume: 100 }, { ...after, isPartial: true }],
  ] as const)
    assert.equal(await waited(t, { available, other: { before, after: later } }), 1);
  const unknown = [
    { before: { volume: 100, isPartial: true }, after },
    { before: { volume: 100 }, after: { volume: 20, isPartial: true } },
    { before: { volume: 100 } },
  ];
  for (const other of unknown) assert.equal(await waited(t, { available, other }), 4);
});

test('missing files in a partial measurement do not hide that another pod has taken the space', () => {
  const evicted = [{ pod: podOf('a'), stats: statsOf('a', { volume: 50 }) }];
  const others = ['b', 'c'].map((name) => ({ pod: podOf(name), stats: statsOf(name, { volume: 100 }) }));
  const resource = { signal: SIGNAL, layout: 'shared' } as const;
  const space = new EvictedSpace([{ resource, available: 10n * MI, evicted, others }]);
  const observations = new Map([[SIGNAL, { available: 10n * MI, capacity: 1000n * MI, atMs: 0 }]]);
  const otherUse = [statsOf('b', { volume: 150 }), statsOf('c', { volume: 10, isPartial: true })];
  assert.ok(space.isFreed({ signals: [SIGNAL], observations, otherUse, isUnknownFreed: false }));
});

test('the wait lasts while an evicted pod is being removed, even if another pod was only partially measured', async (t) => {
  const other = { before: { volume: 100 }, after: { volume: 20, isPartial: true } };
  const isDeleting = (nowMs: number) => nowMs < 20_000;
  assert.ok((await waited(t, { available: () => 10, other, isDeleting })) > 23);
});
