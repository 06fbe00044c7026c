import type { Bench } from './bench.ts';
import { bringUp, type PodOptions, takeDown } from './life-cycle.ts';
import type { Side } from './sides.ts';
import type { Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';

const PODS = 10;
const ROUNDS = 10;
/** Pause between bursts, while Podwright replenishes its ready sandboxes. */
const SETTLE_MS = 1500;

/** Measures ten pods started at once. */
export async function measureBursts({ containerd, podwright, matched, unready }: Bench): Promise<Table> {
  const samples = await inTurns(
    { rounds: ROUNDS, settleMs: SETTLE_MS },
    {
      containerd: () => burst(containerd, PODS),
      podwright: () => burst(podwright, PODS),
      matched: () => burst(matched, PODS),
      unready: () => burst(unready, PODS),
    },
  );
  const row = (what: string, pick: (burst: Burst) => number[], goals?: Row['goals']): Row => ({
    what,
    containerd: samples.containerd.flatMap(pick),
    podwright: samples.podwright.flatMap(pick),
    matched: samples.matched.flatMap(pick),
    goals,
  });
  return {
    title: `Ten pods at once, ${ROUNDS} times`,
    rows: [
      row('ten at once, each pod up', ({ each }) => each, { podwright: { ratio: 0.18 }, matched: { ratio: 0.38 } }),
      {
        what: 'ten at once, each pod up, without ready sandboxes',
        containerd: samples.containerd.flatMap(({ each }) => each),
        podwright: samples.unready.flatMap(({ each }) => each),
        inShort: true,
      },
      row('ten at once, all up', ({ all }) => [all]),
      row('ten at once, all stopped and removed', ({ down }) => [down]),
    ],
  };
}

/** Times in ms: until each pod is up, until all are up, and until all are removed. */
type Burst = { each: number[]; all: number; down: number };

/** Starts several pods at once, and then removes them. */
export async function burst(side: Side, count: number, options?: PodOptions): Promise<Burst> {
  const begin = performance.now();
  const pods = await Promise.all(Array.from({ length: count }, () => bringUp(side, options)));
  const up = performance.now();
  await Promise.all(pods.map(({ pod }) => takeDown(side, pod)));
  return { each: pods.map(({ times }) => times.up), all: up - begin, down: performance.now() - up };
}
