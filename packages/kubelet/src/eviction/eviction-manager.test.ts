import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PodwrightError, silentLogger, waitFor } from '@podwright/base';
import type { EventSubject, Pod } from '@podwright/kube-api';
import {
  type DiskLayout,
  NodePressure,
  type Observation,
  type Observations,
  type Signal,
  type ThresholdSettings,
  thresholdsOf,
} from '@podwright/kubelet-configuration';
import { EvictionManager, type EvictionManagerDependencies } from './eviction-manager.ts';
import { type GivenUse, podOf, statsOf } from './pods.fixture.ts';
import { isExempt } from './pressure-admission.ts';
import { type NodeReclaim, reclaimSteps } from './reclaim-steps.ts';

/** Starts an eviction manager on a node whose signals are set by the test; `actions` records what the manager does. */
function start(pods: Pod[], settings: Partial<ThresholdSettings>, given: Partial<EvictionManagerDependencies> = {}) {
  const actions: string[] = [];
  const signals: Partial<Record<Signal, bigint>> = {};
  const uses: Record<string, GivenUse> = {};
  const events: EventSubject[] = [];
  const pressure = new NodePressure();
  const all = { hard: {}, soft: {}, softGracePeriod: {}, minimumReclaim: {}, ...settings };
  const reclaim = (what: string) => async () => void actions.push(what);
  const cleanedUp = new Set<string>();
  const observe = async () => {
    const observed = (available: bigint): Observation => ({ available, capacity: 1000n, atMs: performance.now() });
    return new Map(Object.entries(signals).map(([signal, one]) => [signal as Signal, observed(one)]));
  };
  const manager = new EvictionManager({
    thresholds: thresholdsOf(all, { areHeldToAllocatable: false }),
    ...{ transitionMs: 60_000, maxPodGraceSeconds: 20, periodMs: 1, nodeName: 'node', pressure, logger: silentLogger },
    signals: { diskLayout: async (): Promise<DiskLayout> => 'shared', observe, observeDisks: observe },
    activePods: () => pods.filter(({ metadata }) => !cleanedUp.has(metadata.uid)),
    podStats: async (asked) => asked.map(({ metadata }) => statsOf(metadata.uid, uses[metadata.uid])),
    frozenPodStats: async () => undefined,
    volumePaths: () => new Map(),
    heldInEmptyDirs: async () => new Map(),
    isExempt: (pod) => isExempt(pod, { isStandalone: true }),
    reclaim: { deleteUnusedContainers: reclaim('containers'), deleteUnusedImages: reclaim('images') },
    evict: async ({ metadata }, { gracePeriodSeconds }) => {
      cleanedUp.add(metadata.uid);
      actions.push(`evict ${metadata.name} in ${gracePeriodSeconds}`);
    },
    isCleanedUp: ({ metadata }) => cleanedUp.has(metadata.uid),
    events: {
      event: (about, _type, reason) => {
        events.push(about);
        actions.push(reason);
      },
    },
    metrics: { evicted: (signal) => void actions.push(`count ${signal}`), statsAge: () => undefined },
    ...given,
  });
  const round = async () => {
    actions.length = 0;
    await manager.synchronize();
    return actions.join(', ');
  };
  return { manager, signals, uses, pressure, round, actions, events };
}

const NOTHING_TO_FREE = { deleteUnusedContainers: async () => undefined, deleteUnusedImages: async () => undefined };
const HARD = { hard: { 'memory.available': '100', 'nodefs.available': '10%' } };

test('no pod is evicted above the thresholds; below them, one pod per round is evicted, the largest consumer first', async () => {
  const { signals, uses, pressure, round, events } = start([podOf('a'), podOf('b')], HARD);
  signals['memory.available'] = 100n;
  assert.equal(await round(), '');
  assert.deepEqual(pressure.conditions, []);
  Object.assign(uses, { a: { memory: 1 }, b: { memory: 2 } });
  signals['memory.available'] = 99n;
  assert.equal(await round(), 'EvictionThresholdMet, Evicted, evict b in 1, count memory.available');
  assert.equal(events.at(-1)?.annotations?.offending_containers_usage, '2Mi');
  assert.deepEqual(pressure.conditions, ['MemoryPressure']);
  assert.match(pressure.reasons.join(), /^memory\.available is 99 B of 1000 B, below 100 \(evictionHard\)$/);
  assert.equal(await round(), 'EvictionThresholdMet, Evicted, evict a in 1, count memory.available');
  assert.equal(await round(), 'EvictionThresholdMet');
});

test('unused containers and images are removed first, and no pod is evicted if that is enough', async () => {
  const { signals, round, pressure } = start([podOf('a')], HARD, {
    reclaim: {
      deleteUnusedContainers: () => Promise.reject(new PodwrightError('internal', 'one stays')),
      deleteUnusedImages: async () => {
        signals['nodefs.available'] = 100n;
        signals['containerfs.available'] = 100n;
      },
    },
  });
  signals['nodefs.available'] = 99n;
  signals['containerfs.available'] = 99n;
  assert.equal(await round(), 'EvictionThresholdMet');
  assert.deepEqual([pressure.conditions, pressure.reasons], [['DiskPressure'], []]);
  signals['nodefs.available'] = 99n;
  signals['memory.available'] = 1n; // freeing disk space does not help
  assert.match(await round(), /evict a/);
});

test('a critical pod is never evicted', async () => {
  const vital = podOf('vital', { priority: 2_000_000_000 });
  const { signals, uses, round } = start([vital, podOf('a', { requests: { memory: '9Mi' } })], HARD);
  uses.vital = { memory: 100 };
  signals['memory.available'] = 1n;
  assert.equal(await round(), 'EvictionThresholdMet, Evicted, evict a in 1, count memory.available');
});

test('a pod gets its own grace period for a soft threshold, capped at evictionMaxPodGracePeriod', async () => {
  const soft = { soft: { 'pid.available': '9' }, softGracePeriod: { 'pid.available': '1ms' } };
  const spec = (seconds: number) => ({ spec: { terminationGracePeriodSeconds: seconds } });
  for (const [seconds, expected] of [
    [5, 5],
    [0, 1],
    [60, 20],
  ] as const) {
    const { signals, round } = start([podOf('a', spec(seconds))], soft);
    signals['pid.available'] = 8n;
    assert.equal(await round(), '');
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.equal(await round(), `EvictionThresholdMet, Evicted, evict a in ${expected}, count pid.available`);
  }
});

test('deleted files of all pods with limited emptyDirs are searched for together, once per round', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-limits-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const limited = { spec: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }] } };
  const searches: string[] = [];
  const heldInEmptyDirs: EvictionManagerDependencies['heldInEmptyDirs'] = async (podUids) => {
    searches.push([...podUids].join());
    return new Map([['c', new Map([['v', { bytes: 2 << 20, inodes: 1 }]])]]);
  };
  const volumePaths = () => new Map([['v', directory]]);
  const pods = [podOf('a', limited), podOf('b'), podOf('c', limited)];
  const { round } = start(pods, {}, { heldInEmptyDirs, volumePaths });
  assert.equal(await round(), 'Evicted, evict c in 1, count emptydirfs.limit');
  assert.deepEqual(searches, ['a,c']);
  assert.equal(await round(), '');
  assert.deepEqual(searches, ['a,c', 'a']);
});

test('a pod with unmeasurable emptyDirs delays the limit checks of others once, and is measured once', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-limits-'));
  const { PATH } = process.env;
  context.after(() => {
    process.env.PATH = PATH;
    rmSync(directory, { recursive: true });
  });
  const [fifo, started] = [join(directory, 'fifo'), join(directory, 'started')];
  const isHung = `case $path in */hung) echo x >>${started}; read -r _ <${fifo};; esac`;
  const script = `#!/bin/sh\nfor path; do :; done\n${isHung}\nPATH=${PATH} exec du "$@"\n`;
  writeFileSync(join(directory, 'du'), script, { mode: 0o755 });
  execFileSync('mkfifo', [fifo]);
  process.env.PATH = `${directory}:${PATH}`;
  for (const name of ['hung', 'b']) mkdirSync(join(directory, name));
  const volumes = [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }];
  const volumeMounts = [{ name: 'v', mountPath: '/v', mountPropagation: 'Bidirectional' }];
  const containers = [{ name: 'main', image: 'i', volumeMounts }] as Pod['spec']['containers'];
  const { round } = start(
    [podOf('hung', { spec: { volumes, containers } }), podOf('b', { spec: { volumes } })],
    {},
    {
      // measurements of the pods' statistics hang as well
      podStats: () => new Promise<never>(() => undefined),
      volumePaths: (uid) => new Map([['v', join(directory, uid)]]),
      heldInEmptyDirs: async () => new Map([['b', new Map([['v', { bytes: 2 << 20, inodes: 1 }]])]]),
    },
  );
  assert.equal((await round()) || (await round()), 'Evicted, evict b in 1, count emptydirfs.limit');
  assert.equal(await round(), '');
  assert.equal(readFileSync(started, 'utf8'), 'x\nx\n', 'for bytes and for inodes');
  writeFileSync(fifo, '');
});

test('all pods over their local storage limits are evicted at once, before any pod is evicted for a node threshold', async () => {
  const limited = { limits: { 'ephemeral-storage': '1Mi' } };
  const { signals, uses, round, events } = start([podOf('a', limited), podOf('b'), podOf('c', limited)], HARD);
  for (const name of ['a', 'b', 'c']) uses[name] = { root: 2 };
  signals['memory.available'] = 1n;
  const each = (name: string) => `Evicted, evict ${name} in 1, count ephemeralpodfs.limit`;
  assert.equal(await round(), `${each('a')}, ${each('c')}`);
  assert.equal(events.at(-1)?.annotations, undefined);
});

test('the loop survives failed rounds, starts the next round at once after an eviction, and ends when aborted', async () => {
  let failures = 2;
  const controller = new AbortController();
  const { manager, signals, actions } = start([podOf('a'), podOf('b')], HARD, {
    periodMs: 5,
    activePods: () => {
      if (failures-- > 0) throw new PodwrightError('unavailable', 'no runtime');
      if (failures < -7) controller.abort();
      return [podOf(`a${failures}`)];
    },
  });
  signals['memory.available'] = 1n;
  await manager.run(controller.signal);
  assert.ok(actions.filter((one) => one.startsWith('evict')).length >= 2, actions.join());
});

test('the space of removed files is freed in the background, and no other pod is evicted meanwhile', async () => {
  const controller = new AbortController();
  const evicted: string[] = [];
  let freed = 0n;
  let images = 0;
  const free = (each: bigint, times: number) => {
    const timer = setInterval(() => {
      freed += each;
      if (--times === 0) clearInterval(timer);
    }, 150);
  };
  const observe = async (): Promise<Observations> => {
    const observed = { available: 50n + freed, capacity: 1000n, atMs: performance.now() };
    if (observed.available >= 100n) setTimeout(() => controller.abort(), 10);
    return new Map([['nodefs.available', observed]]);
  };
  const { manager, uses } = start([podOf('a'), podOf('b')], HARD, {
    signals: { diskLayout: async () => 'shared', observe, observeDisks: observe },
    reclaim: {
      deleteUnusedContainers: async () => undefined,
      deleteUnusedImages: async () => {
        if (++images === 1) free(5n, 4);
      },
    },
    evict: async ({ metadata }) => {
      evicted.push(`${metadata.name} with ${50n + freed}`);
      free(10n, 4);
    },
    isCleanedUp: ({ metadata }) => evicted.some((one) => one.startsWith(metadata.name)),
  });
  uses.a = { root: 1 };
  await manager.run(controller.signal);
  assert.deepEqual([evicted, images], [['a with 70'], 1]);
});

type GivenRun = Pick<EvictionManagerDependencies, 'isDeleting'> &
  Partial<NodeReclaim> & {
    count: number;
    ms: number;
    isPartial: boolean;
    onEvicted: (node: ReturnType<typeof start>) => void;
  };

/**
 * Runs an eviction manager on a node that is short of disk space until it has evicted the expected number of pods, or until `ms` have
 * passed. Returns the names of the evicted pods.
 */
async function runUntilEvicted(
  names: string[],
  { count, ms, isPartial, onEvicted, isDeleting, ...reclaim }: GivenRun,
): Promise<string[]> {
  const controller = new AbortController();
  const evicted: string[] = [];
  const node = start(
    names.map((name) => podOf(name)),
    HARD,
    {
      reclaim: { ...NOTHING_TO_FREE, ...reclaim },
      evict: async ({ metadata }) => {
        evicted.push(metadata.name);
        onEvicted(node);
        if (evicted.length === count) controller.abort();
      },
      isDeleting,
      isCleanedUp: ({ metadata }) => evicted.includes(metadata.name),
      activePods: () => names.filter((name) => !evicted.includes(name)).map((name) => podOf(name)),
    },
  );
  node.signals['nodefs.available'] = 10n;
  node.uses[names[0]!] = { volume: 200, isPartial };
  node.uses[names[1]!] = { volume: 50 };
  const timer = setTimeout(() => controller.abort(), ms);
  await node.manager.run(controller.signal);
  clearTimeout(timer);
  return evicted;
}

for (const [how, isPartial] of [
  ['known', false],
  ['partly measured', true],
] as const)
  test(`no pod is evicted while the space of an evicted pod of ${how} use is still to be freed`, async () => {
    const onEvicted = ({ signals }: ReturnType<typeof start>) => {
      setTimeout(() => {
        signals['nodefs.available'] = 200n;
      }, 3000);
    };
    assert.deepEqual(await runUntilEvicted(['a', 'b'], { count: 2, ms: 4000, isPartial, onEvicted }), ['a']);
  });

test('the containers of an evicted pod are removed before the next round', async () => {
  const steps: string[] = [];
  const deleteUnusedContainers = async () => void steps.push('remove containers');
  const onEvicted = () => void steps.push('evict');
  await runUntilEvicted(['a', 'b'], { count: 2, ms: 3000, isPartial: false, onEvicted, deleteUnusedContainers });
  assert.deepEqual(steps.slice(0, 3), ['remove containers', 'evict', 'remove containers']);
});

test('no pod is evicted while files are still being deleted, even if that takes longer than the usual wait', async (t) => {
  const { performance: clock } = globalThis;
  const now = clock.now.bind(clock);
  let skippedMs = 0;
  t.mock.method(clock, 'now', () => now() + skippedMs);
  const onEvicted = () => {
    skippedMs = 0;
    setTimeout(() => {
      skippedMs = 60_000;
    }, 500);
  };
  const given = { count: 2, ms: 4000, isPartial: true, onEvicted };
  assert.deepEqual(await runUntilEvicted(['a', 'b'], { ...given, isDeleting: () => true }), ['a']);
  assert.deepEqual(await runUntilEvicted(['a', 'b'], { ...given, isDeleting: () => false }), ['a', 'b']);
});

test('the next pod is evicted a few seconds after the files of an evicted pod with unknown usage have been deleted', async () => {
  const atMs: number[] = [];
  const onEvicted = () => void atMs.push(performance.now());
  const isDeleting = () => performance.now() - atMs[0]! < 2000;
  const given = { count: 2, ms: 20_000, isPartial: true, onEvicted, isDeleting };
  assert.deepEqual(await runUntilEvicted(['a', 'b'], given), ['a', 'b']);
  const waitedMs = atMs[1]! - atMs[0]!;
  assert.ok(waitedMs > 5000 && waitedMs < 12_000, `${waitedMs} ms`);
});

test('a pod that fills the space freed by an eviction is evicted soon, even if the disk usage never drops', async () => {
  const begunAtMs = performance.now();
  const onEvicted = ({ uses }: ReturnType<typeof start>) => {
    uses.b = { volume: 240 };
  };
  assert.deepEqual(await runUntilEvicted(['a', 'b'], { count: 2, ms: 20_000, isPartial: false, onEvicted }), [
    'a',
    'b',
  ]);
  assert.ok(performance.now() - begunAtMs < 10_000);
});

test('a slow volume measurement does not delay evictions, and a pod that has been cleaned up is not evicted', async () => {
  const limited = podOf('a', { limits: { 'ephemeral-storage': '1Mi' } });
  const walk = Promise.withResolvers<void>();
  const { signals, uses, round } = start([limited, podOf('b')], HARD, {
    podStats: async (asked, { disk }) => {
      if (disk) await walk.promise;
      return asked.map(({ metadata }) => statsOf(metadata.uid, uses[metadata.uid]));
    },
    isCleanedUp: ({ metadata }) => metadata.name === 'b',
  });
  Object.assign(uses, { a: { root: 2, memory: 1 }, b: { memory: 2 } });
  signals['memory.available'] = 1n;
  assert.equal(await round(), 'EvictionThresholdMet, Evicted, evict a in 1, count memory.available');
  walk.resolve();
});

test('a disk that crosses a threshold between two rounds starts the next round immediately', async () => {
  const controller = new AbortController();
  const begunAtMs = performance.now();
  const { manager, signals, uses } = start([podOf('a'), podOf('b', { priority: 2_000_000_000 })], HARD, {
    periodMs: 60_000,
    evict: async ({ metadata }) => {
      assert.equal(metadata.name, 'a');
      controller.abort();
    },
    events: { event: () => undefined },
  });
  uses.a = { root: 1 };
  signals['imagefs.available'] = 1n; // has no threshold
  signals['nodefs.available'] = 101n;
  setTimeout(() => {
    signals['nodefs.available'] = 99n;
  }, 20);
  await manager.run(controller.signal);
  assert.ok(performance.now() - begunAtMs < 10_000);
});

test('a disk that was already below its threshold in the last round does not trigger the next one', async (t) => {
  const timeouts = t.mock.method(globalThis, 'setTimeout');
  const controller = new AbortController();
  let observations = 0;
  const observe = async (): Promise<Observations> => {
    if (++observations === 20) controller.abort();
    return new Map([['nodefs.available', { available: 99n, capacity: 1000n, atMs: performance.now() }]]);
  };
  const { manager, pressure } = start([podOf('critical', { priority: 2_000_000_000 })], HARD, {
    periodMs: 60_000,
    signals: { diskLayout: async () => 'images', observe, observeDisks: observe },
  });
  const rounds = t.mock.method(pressure, 'set');
  const running = manager.run(controller.signal);
  const isPaused = () => timeouts.mock.calls.some(({ arguments: [, delayMs = 0] }) => delayMs > 50_000);
  await waitFor(() => isPaused() || controller.signal.aborted || undefined, {
    intervalMs: 5,
    signal: AbortSignal.timeout(5000),
  });
  controller.abort();
  await running;
  assert.equal(rounds.mock.callCount(), 1);
});

const HUGE = 200;
const KINDS: [Signal, (amount: number) => GivenUse][] = [
  ['nodefs.available', (amount) => ({ volume: amount * 5 })],
  ['nodefs.inodesFree', (amount) => ({ inodes: amount * 5 })],
  ['memory.available', (amount) => ({ memory: amount * 5 })],
];

/**
 * Runs an eviction manager with three pods with low usage and an attacker that uses either everything or nothing; `step` is called before
 * each measurement of the pods.
 */
function attacked(signal: Signal, use: (amount: number) => GivenUse, step: (fill: (full: boolean) => void) => void) {
  const given: Partial<EvictionManagerDependencies> = {
    podStats: async (asked) => {
      step(fill);
      return asked.map(({ metadata }) => statsOf(metadata.uid, node.uses[metadata.uid]));
    },
  };
  const pods = ['i1', 'i2', 'i3', 'attacker'].map((name) => podOf(name));
  const node = start(pods, { hard: { [signal]: '100' } }, given);
  for (const name of ['i1', 'i2', 'i3']) node.uses[name] = use(1);
  const fill = (full: boolean) => {
    node.uses.attacker = use(full ? HUGE : 0);
    node.signals[signal] = full ? 10n : 900n;
  };
  fill(true);
  return { ...node, fill };
}

for (const [signal, use] of KINDS) {
  test(`${signal}: a pod that frees its usage before it is measured does not cause the eviction of another pod`, async () => {
    const { round, fill } = attacked(signal, use, (change) => change(false));
    for (let count = 0; count < 5; count++) {
      fill(true);
      assert.equal(await round(), 'EvictionThresholdMet');
    }
  });

  test(`${signal}: a pod that repeatedly fills and frees it, and was measured once while full, is evicted at the third shortage`, async () => {
    let measurements = 0;
    const { round, fill } = attacked(signal, use, (change) => change(++measurements === 3));
    const rounds: string[] = [];
    for (let count = 0; count < 3; count++) {
      fill(true);
      rounds.push(await round());
    }
    assert.match(rounds.pop()!, /evict attacker/);
    assert.doesNotMatch(rounds.join(), /evict/);
  });

  test(`${signal}: a pod that was measured full is evicted first, even if it uses nothing when another shortage is measured`, async () => {
    let measurements = 0;
    const { round, uses, signals } = attacked(signal, use, () => {
      if (++measurements === 2) uses.attacker = use(0);
    });
    signals[signal] = 10n;
    assert.match(await round(), /evict attacker/);
  });
}

test('no pod is evicted for a disk that the host repeatedly fills and frees', async () => {
  const { round, uses, signals } = attacked('nodefs.available', KINDS[0]![1], () => {
    uses.attacker = {};
    signals['nodefs.available'] = 900n;
  });
  for (let count = 0; count < 5; count++) {
    signals['nodefs.available'] = 10n;
    assert.doesNotMatch(await round(), /evict/);
  }
});

test('no image is removed for a shortage that has ended', async () => {
  const { round } = attacked('nodefs.available', KINDS[0]![1], (change) => change(false));
  assert.doesNotMatch(await round(), /images/);
});

test('if a shortage exceeds the usage of all pods, a pod is evicted only at the third shortage', async () => {
  const { signals, uses, round } = start([podOf('a')], HARD, { reclaim: NOTHING_TO_FREE });
  uses.a = { root: 0 };
  signals['nodefs.available'] = 1n;
  assert.doesNotMatch(await round(), /evict/);
  assert.doesNotMatch(await round(), /evict/);
  assert.match(await round(), /evict a/);
});

test('a pod with uncountable files is evicted first, but not before the third unexplained shortage', async () => {
  const messages: string[] = [];
  const { signals, uses, round } = start([podOf('i1'), podOf('hider'), podOf('i2')], HARD, {
    reclaim: NOTHING_TO_FREE,
    events: { event: (_about, _type, _reason, message) => void messages.push(message) },
  });
  uses.hider = { isPartial: true };
  signals['nodefs.available'] = 1n;
  assert.doesNotMatch(await round(), /evict/);
  assert.doesNotMatch(await round(), /evict/);
  assert.match(await round(), /evict hider/);
  assert.match(messages.at(-1)!, /Pod hider has files that could not be counted/);
  signals['memory.available'] = 1n;
  await round();
  assert.doesNotMatch(messages.at(-1)!, /could not be counted/);
});

test('a pod is partial if its latest measurement is, even if earlier ones were complete', async () => {
  const inodes = { hard: { 'nodefs.inodesFree': '100' } };
  const { signals, uses, round } = start([podOf('i1'), podOf('hider')], inodes, { reclaim: NOTHING_TO_FREE });
  Object.assign(uses, { hider: { inodes: 10 }, i1: { inodes: 50 } });
  signals['nodefs.inodesFree'] = 1n;
  assert.doesNotMatch(await round(), /evict/);
  uses.hider = { inodes: 0, isPartial: true };
  assert.doesNotMatch(await round(), /evict/);
  assert.match(await round(), /evict hider/);
});

for (const complete of [1, 5])
  test(`a busy pod of whose measurements only number ${complete} is complete is not evicted before a larger pod`, async () => {
    let measurements = 0;
    const inodes = { hard: { 'nodefs.inodesFree': '100' } };
    const { signals, uses, round } = start([podOf('busy'), podOf('hog')], inodes, {
      reclaim: NOTHING_TO_FREE,
      podStats: async (asked) => {
        uses.busy = { inodes: 40, isPartial: ++measurements !== complete };
        return asked.map(({ metadata }) => statsOf(metadata.uid, uses[metadata.uid]));
      },
    });
    uses.hog = { inodes: 300 };
    signals['nodefs.inodesFree'] = 10n;
    assert.match(await round(), /evict hog/);
  });

test('space that a pod has freed meanwhile does not account for the usage of a pod that hides its files', async () => {
  let measurements = 0;
  const inodes = { hard: { 'nodefs.inodesFree': '100' } };
  const { signals, uses, round } = start([podOf('freed'), podOf('hider')], inodes, {
    reclaim: NOTHING_TO_FREE,
    podStats: async (asked) => {
      uses.freed = { inodes: ++measurements === 1 ? 900 : 5 };
      return asked.map(({ metadata }) => statsOf(metadata.uid, uses[metadata.uid]));
    },
  });
  uses.hider = { inodes: 0, isPartial: true };
  signals['nodefs.inodesFree'] = 50n;
  assert.match(await round(), /evict hider/);
});

test('an eviction does not wait long for a measurement, and ranks pods by the available data', async () => {
  let measurements = 0;
  const { signals, uses, round } = start([podOf('a'), podOf('b')], HARD, {
    reclaim: NOTHING_TO_FREE,
    rankMs: 1,
    podStats: async (asked) => {
      if (++measurements > 1) await new Promise<never>(() => undefined);
      return asked.map(({ metadata }) => statsOf(metadata.uid, uses[metadata.uid]));
    },
  });
  Object.assign(uses, { a: { root: 1 }, b: { root: 2 } });
  signals['nodefs.available'] = 1n;
  assert.match(await round(), /evict b/);
});

test('without statistics of any pod, one is evicted at the third disk shortage, and none for memory', async () => {
  const { signals, round, actions } = start([podOf('a')], HARD, {
    reclaim: { ...NOTHING_TO_FREE, deleteUnusedImages: () => new Promise<never>(() => undefined) },
    rankMs: 1,
    podStats: () => new Promise<never>(() => undefined),
  });
  signals['memory.available'] = 1n;
  await assert.rejects(round());
  assert.doesNotMatch(actions.join(), /evict/);
  Object.assign(signals, { 'memory.available': 900n, 'nodefs.available': 1n });
  assert.doesNotMatch(await round(), /evict/);
  assert.doesNotMatch(await round(), /evict/);
  assert.match(await round(), /evict a/);
});

test('a pod without statistics in the current round is partial, and earlier ones do not protect it', async () => {
  let isFirst = true;
  const inodes = { hard: { 'nodefs.inodesFree': '100' } };
  const { signals, uses, round } = start([podOf('i1'), podOf('i2'), podOf('hider')], inodes, {
    reclaim: NOTHING_TO_FREE,
    podStats: async (asked) => {
      const measured = isFirst ? asked : asked.filter(({ metadata }) => metadata.name !== 'hider');
      return measured.map(({ metadata }) => statsOf(metadata.uid, uses[metadata.uid]));
    },
  });
  Object.assign(uses, { i1: { inodes: 500 }, i2: { inodes: 200 }, hider: { inodes: 10 } });
  signals['nodefs.inodesFree'] = 1n;
  assert.match(await round(), /evict i1/);
  isFirst = false;
  assert.match(await round(), /evict hider/);
});

test('a shortage that exceeds the counted files of a partial pod is rechecked soon', async () => {
  const controller = new AbortController();
  const { manager, signals, uses } = start([podOf('i1'), podOf('hider')], HARD, {
    reclaim: NOTHING_TO_FREE,
    periodMs: 60_000,
    evict: async ({ metadata }) => {
      assert.equal(metadata.name, 'hider');
      controller.abort();
    },
    events: { event: () => undefined },
  });
  uses.hider = { isPartial: true };
  signals['nodefs.available'] = 1n;
  const begunAtMs = performance.now();
  await manager.run(controller.signal);
  assert.ok(performance.now() - begunAtMs < 20_000);
});

test('a recurring problem is logged again', async () => {
  const controller = new AbortController();
  const warnings: unknown[] = [];
  let looks = 0;
  const { manager } = start([], HARD, {
    logger: { ...silentLogger, warn: (fields: object) => void warnings.push(fields) },
    activePods: () => {
      if (++looks === 6) controller.abort();
      if (looks === 3) return [];
      throw new PodwrightError('unavailable', 'no runtime');
    },
  });
  await manager.run(controller.signal);
  assert.equal(warnings.length, 2);
});

test('only unused files on the affected disk are removed before an eviction', () => {
  const both = ['deleteUnusedContainers', 'deleteUnusedImages'];
  assert.deepEqual(reclaimSteps('memory.available', 'shared'), []);
  assert.deepEqual(reclaimSteps('nodefs.inodesFree', 'shared'), both);
  assert.deepEqual(reclaimSteps('nodefs.available', 'images'), []);
  assert.deepEqual(reclaimSteps('imagefs.available', 'images'), both);
  assert.deepEqual(reclaimSteps('containerfs.available', 'images'), both);
  assert.deepEqual(reclaimSteps('nodefs.available', 'split'), ['deleteUnusedContainers']);
  assert.deepEqual(reclaimSteps('imagefs.available', 'split'), ['deleteUnusedImages']);
});

test('a pod that moves its files away during measurements is evicted, and no smaller pod is', async () => {
  const frozen: string[] = [];
  const { signals, uses, round } = start([podOf('innocent'), podOf('mover')], HARD, {
    reclaim: NOTHING_TO_FREE,
    frozenPodStats: async ({ metadata: { name } }) => {
      frozen.push(name);
      return { stats: statsOf(name, { volume: name === 'mover' ? 200 : 5 }), emptyDirs: new Map() };
    },
  });
  Object.assign(uses, { innocent: { volume: 5 }, mover: { volume: 1, changes: 'directories' } });
  signals['nodefs.available'] = 1n;
  assert.match(await round(), /evict mover/);
  assert.deepEqual(frozen, ['innocent', 'mover']);
});

test('a pod that moves its files away during measurements is evicted for exceeding its limit', async () => {
  const limited = (name: string) => podOf(name, { limits: { 'ephemeral-storage': '10Mi' } });
  const { uses, round } = start([limited('innocent'), limited('mover')], HARD, {
    frozenPodStats: async ({ metadata: { name } }) => ({
      stats: statsOf(name, { volume: name === 'mover' ? 200 : 5 }),
      emptyDirs: new Map(),
    }),
  });
  Object.assign(uses, { innocent: { volume: 5 }, mover: { volume: 1 } });
  assert.equal(await round(), 'Evicted, evict mover in 1, count ephemeralpodfs.limit');
});

test('an unmeasured pod is not evicted for a disk that another pod has filled', async () => {
  const { signals, uses, round } = start([podOf('new'), podOf('hog')], HARD, {
    reclaim: NOTHING_TO_FREE,
    podStats: async () => [statsOf('hog', uses.hog)],
  });
  uses.hog = { volume: 200 };
  signals['nodefs.available'] = 1n;
  assert.match(await round(), /evict hog/);
});
