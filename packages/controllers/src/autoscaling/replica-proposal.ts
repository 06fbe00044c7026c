/** Computes the number of replicas proposed by a per-pod metric (upstream's podautoscaler/replica_calculator.go). Pure. */
import type { Pod } from '@podwright/kube-api';
import { groupPods, type PodUsage, type PodUsages, requestsOf } from './pod-usage.ts';

/** How far the ratio of usage to target may deviate from 1 before the number of replicas changes. */
export type Tolerances = { scaleDown: number; scaleUp: number };

/**
 * The replicas proposed by a metric. `usage` is the average over the counted pods, in milli-units; `utilization` is a percentage of their
 * requests.
 */
export type Proposal = { replicas: number; usage: number; utilization?: number };

export type ProposalInput = {
  resource: string;
  /** Name of the container whose usage counts. Default: all containers. */
  container?: string;
  /** The target usage: a percentage of the requests, or an average in milli-units of the resource. */
  target: { utilization: number } | { average: number };
  /** The pods of the autoscaler's target. */
  pods: readonly Pod[];
  usages: PodUsages;
  currentReplicas: number;
  tolerances: Tolerances;
  /** The current Unix time in milliseconds. */
  nowMs: number;
};

type Measure = Omit<Proposal, 'replicas'> & { ratio: number };

/** How pod usage is measured and compared with the autoscaler's target. */
type Scale = {
  measure: (usages: PodUsages) => Measure;
  /** Returns the usage to assume for a pod without metrics if the pods with metrics are below the target, in milli-units. */
  assumed: (pod: string) => number;
};

/**
 * Returns the number of replicas that a metric proposes. Throws an error with upstream's message if there are no pods, no metrics for them,
 * or no requests.
 */
export function proposeReplicas(input: ProposalInput): Proposal {
  const { pods, resource, tolerances, currentReplicas, nowMs } = input;
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const { readyCount, unready, missing, ignored } = groupPods(pods, input.usages, { isCpu: resource === 'cpu', nowMs });
  const usages = without(input.usages, [...ignored, ...unready]);
  if (usages.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  const scale = scaleOf(input);
  const { ratio, ...used } = scale.measure(usages);
  const keeps = { replicas: currentReplicas, ...used };
  const growsWithUnready = unready.length > 0 && ratio > 1;
  if (!growsWithUnready && missing.length === 0)
    return isWithin(tolerances, ratio) ? keeps : { replicas: Math.ceil(ratio * readyCount), ...used };
  const assumed = new Map<string, PodUsage>(usages);
  const assume = (names: readonly string[], value: (name: string) => number) => {
    for (const name of names) assumed.set(name, { timestampMs: 0, windowMs: 0, value: value(name) });
  };
  if (ratio < 1) assume(missing, scale.assumed);
  if (ratio > 1) assume([...missing, ...unready], () => 0);
  const corrected = scale.measure(assumed).ratio;
  const turns = (ratio < 1 && corrected > 1) || (ratio > 1 && corrected < 1);
  if (isWithin(tolerances, corrected) || turns) return keeps;
  const replicas = Math.ceil(corrected * assumed.size);
  const isOpposite = (corrected < 1 && replicas > currentReplicas) || (corrected > 1 && replicas < currentReplicas);
  return isOpposite ? keeps : { replicas, ...used };
}

const isWithin = ({ scaleDown, scaleUp }: Tolerances, ratio: number) => 1 - scaleDown <= ratio && ratio <= 1 + scaleUp;

function without(usages: PodUsages, names: readonly string[]): PodUsages {
  const left = new Map(usages);
  for (const name of names) left.delete(name);
  return left;
}

function scaleOf({ target, pods, resource, container }: ProposalInput): Scale {
  if ('average' in target) {
    return {
      measure: (usages) => {
        const usage = Math.trunc(total(usages.values()) / usages.size);
        return { ratio: usage / target.average, usage };
      },
      assumed: () => target.average,
    };
  }
  const requests = requestsOf(pods, resource, container);
  const assumed = Math.max(100, target.utilization);
  return {
    measure: (usages) => utilizationOf(usages, requests, target.utilization),
    assumed: (pod) => Math.trunc(((requests.get(pod) ?? 0) * assumed) / 100),
  };
}

/** Measures usage as a percentage of the requests, ignoring pods that are not in `requests`. */
function utilizationOf(usages: PodUsages, requests: ReadonlyMap<string, number>, target: number): Measure {
  const known = [...usages].filter(([name]) => requests.has(name));
  const requested = known.reduce((sum, [name]) => sum + requests.get(name)!, 0);
  if (requested === 0) throw new Error('no metrics returned matched known pods');
  const used = total(known.map(([, usage]) => usage));
  const utilization = Math.trunc((used * 100) / requested);
  return { ratio: utilization / target, utilization, usage: Math.trunc(used / known.length) };
}

function total(usages: Iterable<PodUsage>): number {
  let sum = 0;
  for (const { value } of usages) sum += value;
  return sum;
}
