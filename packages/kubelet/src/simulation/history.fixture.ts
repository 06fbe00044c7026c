/**
 * Random histories of a node: sequences of actions, such as pod changes and faults, represented as data, so that a seed always yields the
 * same history and steps can be removed from it.
 */
import { POD_SHAPES, type PodRequest } from './pods.fixture.ts';
import { Random } from './random.fixture.ts';
import type { ArmedFault, StageFault } from './stages.fixture.ts';

export type Action =
  | ({ do: 'apply' } & PodRequest)
  | { do: 'delete'; name: string }
  | { do: 'exit'; pick: number; exitCode: number; hiddenMs: number }
  | { do: 'ignoreSigterm'; pick: number }
  | { do: 'loseSandbox'; pick: number }
  | { do: 'probe'; pick: number; kind: 'readiness' | 'liveness' | 'startup'; good: boolean }
  | { do: 'events'; fault: 'lost' | 'twice' | 'late'; ms: number; count: number }
  | ({ do: 'fault' } & ArmedFault)
  | { do: 'restartRuntime'; ms: number }
  | { do: 'killKubelet'; ms: number }
  | { do: 'breakRegistry'; ms: number }
  | { do: 'jump'; ms: number };

export type Step = { afterMs: number } & Action;

export type History = { evented: boolean; steps: Step[] };

/** The stages at which faults can be injected: CRI calls, and the kubelet's operations on volumes and cgroups. */
export const STAGES = [
  ...['listPodSandbox', 'listContainers', 'podSandboxStatus', 'containerStatus', 'imageStatus', 'pullImage'],
  ...['runPodSandbox', 'stopPodSandbox', 'removePodSandbox'],
  ...['createContainer', 'startContainer', 'stopContainer', 'removeContainer'],
  ...['mountVolumes', 'unmountVolumes', 'removeVolumes', 'removeOrphanedVolumes', 'makeCgroup', 'removeCgroup'],
  ...['prepare', 'hook'],
];

const NAMES = ['x', 'y', 'z'];
const HOUR_MS = 3_600_000;
const WAITS_MS = [0, 1, 20, 150, 600, 2000, 5000];

export function randomHistory(seed: number): History {
  const random = new Random(seed);
  const count = random.whole(3, 14);
  const steps: Step[] = [{ afterMs: 0, do: 'apply', ...randomPod(random) }];
  while (steps.length < count) steps.push({ afterMs: random.pick(WAITS_MS), ...randomAction(random) });
  return { evented: !random.chance(0.15), steps };
}

function randomAction(random: Random): Action {
  const pick = random.whole(0, 5);
  const makers: [number, () => Action][] = [
    [18, () => ({ do: 'apply', ...randomPod(random) })],
    [10, () => ({ do: 'delete', name: random.pick(NAMES) })],
    [14, () => randomExit(random)],
    [3, () => ({ do: 'ignoreSigterm', pick })],
    [4, () => ({ do: 'loseSandbox', pick })],
    [
      6,
      () => ({ do: 'probe', pick, kind: random.pick(['readiness', 'liveness', 'startup']), good: random.chance(0.3) }),
    ],
    [5, () => randomEvents(random)],
    [26, () => ({ do: 'fault', stage: random.pick(STAGES), fault: randomFault(random) })],
    [4, () => ({ do: 'restartRuntime', ms: random.pick([0, 100, 3000]) })],
    [6, () => ({ do: 'killKubelet', ms: random.pick([0, 50, 4000]) })],
    [3, () => ({ do: 'breakRegistry', ms: random.pick([1000, 20_000]) })],
    [3, () => ({ do: 'jump', ms: random.pick([HOUR_MS, -HOUR_MS]) })],
  ];
  let at = random.next() * makers.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of makers) {
    at -= weight;
    if (at < 0) return make();
  }
  return makers[0]![1]();
}

function randomPod(random: Random): PodRequest {
  const [name, shape] = [random.pick(NAMES), random.pick(POD_SHAPES)];
  return { name, shape, version: random.whole(1, 3), ownUid: random.chance(0.4) };
}

function randomExit(random: Random): Action {
  const hiddenMs = random.chance(0.2) ? random.pick([50, 2000, 10_000]) : 0;
  return { do: 'exit', pick: random.whole(0, 5), exitCode: random.pick([0, 1]), hiddenMs };
}

function randomEvents(random: Random): Action {
  const fault = random.pick(['lost', 'twice', 'late'] as const);
  return { do: 'events', fault, ms: random.pick([3, 500, 6000]), count: random.whole(1, 4) };
}

function randomFault(random: Random): StageFault {
  const done = random.chance(0.5);
  const ms = random.pick([1, 300, 4000, 20_000]);
  return random.pick<StageFault>([
    { kind: 'late', ms, done: done ? 'first' : 'last' },
    { kind: 'error', done },
    { kind: 'silence', done },
    { kind: 'twice' },
    { kind: 'runtimeRestart', ms, done },
    { kind: 'kubeletKill', ms: random.pick([0, 50, 4000]), done },
    { kind: 'exit', exitCode: random.pick([0, 1]) },
  ]);
}
