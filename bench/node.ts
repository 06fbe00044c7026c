import { existsSync } from 'node:fs';
import type { TraceSpan } from '@podwright/kubelet';
import { waterfall } from '../packages/cli/src/commands/trace.ts';
import type { Bench } from './bench.ts';
import { burst } from './bursts.ts';
import { bringUp, takeDown } from './life-cycle.ts';
import { type BenchNode, removeManifests, runManifests, startNode } from './manifests.ts';
import type { Side } from './sides.ts';
import type { Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';

const ROUNDS = 15;
const BURSTS = 10;
const HUNDREDS = 3;
/** Options that make bare CRI calls match the requests of the node's kubelet. */
const AS_KUBELET = { seccomp: true };
/**
 * Goal in ms for setting up the pod's cgroup and volumes. It is higher with cgroup v1, where each move of a process may wait for an RCU
 * grace period.
 */
const CGROUP_GOAL = { limit: existsSync('/sys/fs/cgroup/cgroup.controllers') ? 3 : 15 };

/** Durations in ms of starting a batch of manifests on a node: of each pod, of the slowest pod, and of each pod's cgroup setup. */
type Runs = { tookMs: number[]; all: number; cgroups: number[] };

/** Compares the whole node with bare CRI calls on containerd. */
export async function measureNode(bench: Bench): Promise<Table> {
  const { containerd } = bench;
  const podwright = await startNode(bench, { name: 'node', setup: 'default', index: 3 });
  const matched = await startNode(bench, { name: 'node-matched', setup: 'matched', index: 4 });
  try {
    const one = await compare({ rounds: ROUNDS, settleMs: 500 }, 1, { containerd, podwright, matched });
    const twenty = await compare({ rounds: BURSTS, settleMs: 2000 }, 20, { containerd, podwright, matched });
    const hundreds = [];
    for (let round = 0; round < HUNDREDS; round++) hundreds.push(...(await runs(podwright, 100)).tookMs);
    const cgroups = (
      what: string,
      { cgroups: samples }: { cgroups: Record<'podwright' | 'matched', number[]> },
    ): Row => ({
      what: `${what}: its cgroup and volumes, in the trace`,
      ...samples,
      goals: { podwright: CGROUP_GOAL },
      inShort: false,
    });
    const rows = [
      {
        what: 'one manifest written → running, against bare CRI calls for such pods',
        ...one.all,
        goals: { podwright: { ratio: 0.35 }, matched: { ratio: 0.6 } },
      },
      {
        what: 'twenty manifests at once → all running, against bare CRI calls for such pods',
        ...twenty.all,
        goals: { podwright: { ratio: 0.35 }, matched: { ratio: 0.55 } },
      },
      { what: `a hundred manifests at once → each running, ${HUNDREDS} times`, podwright: hundreds },
      {
        what: 'a hundred manifests at once, the slowest of all',
        podwright: [Math.max(...hundreds)],
        goals: { podwright: { limit: 3000 } },
      },
      cgroups('one pod', one),
      cgroups('a pod of twenty at once', twenty),
    ];
    const below = ['Steps of one more pod:', '', '```', await stepsOfOnePod(podwright), '```', ''].join('\n');
    return { title: 'The node', rows, below };
  } finally {
    await podwright.stop();
    await matched.stop();
  }
}

async function compare(
  turns: { rounds: number; settleMs: number },
  count: number,
  { containerd, podwright, matched }: { containerd: Side; podwright: BenchNode; matched: BenchNode },
) {
  const bare = async () => ({ tookMs: [], cgroups: [], all: await bareCalls(containerd, count) });
  const samples = await inTurns<'containerd' | 'podwright' | 'matched', Runs>(turns, {
    containerd: bare,
    podwright: () => runs(podwright, count),
    matched: () => runs(matched, count),
  });
  const all = (side: keyof typeof samples) => samples[side].map((run) => run.all);
  const cgroups = (side: keyof typeof samples) => samples[side].flatMap((run) => run.cgroups);
  return {
    all: { containerd: all('containerd'), podwright: all('podwright'), matched: all('matched') },
    cgroups: { podwright: cgroups('podwright'), matched: cgroups('matched') },
  };
}

async function bareCalls(side: Side, count: number): Promise<number> {
  if (count > 1) return (await burst(side, count, AS_KUBELET)).all;
  const { pod, times } = await bringUp(side, AS_KUBELET);
  await takeDown(side, pod);
  return times.up;
}

async function runs(node: BenchNode, count: number): Promise<Runs> {
  const written = await runManifests(node, count);
  const spans = await tracesOf(node);
  await removeManifests(node, written);
  const cgroups = spans.filter(({ name }) => name === 'cgroup and volumes').map((span) => span.endMs - span.startMs);
  return { tookMs: written.tookMs, all: Math.max(...written.tookMs), cgroups };
}

async function tracesOf({ client }: BenchNode): Promise<TraceSpan[]> {
  const pods = await client.pods();
  return (await Promise.all(pods.map(({ metadata }) => client.traces(metadata.uid)))).flat();
}

async function stepsOfOnePod(node: BenchNode): Promise<string> {
  const written = await runManifests(node, 1);
  const spans = await tracesOf(node);
  await removeManifests(node, written);
  return waterfall(spans, 100);
}
