/** A first version of the scores of upstream's default plugins, with their weights. */
import {
  matchesTerm as matchesNodeTerm,
  type Pod,
  type PodAffinityTerm,
  type TopologySpreadConstraint,
  toleratesTaint,
} from '@podwright/kube-api';
import type { NodeState, Snapshot } from '../cluster/snapshot.ts';
import { matchesTerm } from '../filters/pod-affinity.ts';
import { domainCounts, selectorOf } from '../filters/topology-spread.ts';
import { MAX_SCORE, type Score, scaled } from './score.ts';

/** CPU and memory assumed for pods that request none, so that these are spread too (upstream's defaults for scoring). */
const LEAST_REQUEST: Readonly<Record<string, bigint>> = { cpu: 100n, memory: 200n << 20n };

const forEach = (nodes: readonly NodeState[], value: (node: NodeState) => number): Map<string, number> =>
  new Map(nodes.map((node) => [node.name, value(node)]));

/** Scores the share of CPU and memory that would be left after adding the pod (LeastAllocated). */
const leastAllocated: Score = (pod, nodes) => forEach(nodes, (node) => mean(usedShares(pod, node).map(leftScore)));

/** Scores how evenly CPU and memory would be used (NodeResourcesBalancedAllocation). */
const balancedAllocation: Score = (pod, nodes) =>
  forEach(nodes, (node) => {
    const [one = 0, other = one] = usedShares(pod, node).map((share) => Math.min(share, 1));
    return Math.floor((1 - Math.abs(one - other) / 2) * MAX_SCORE);
  });

const leftScore = (share: number): number => (share > 1 ? 0 : Math.floor((1 - share) * MAX_SCORE));

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : Math.floor(values.reduce((sum, value) => sum + value, 0) / values.length);

function usedShares(pod: Pod, { pods, allocatable, requests }: NodeState): number[] {
  return Object.entries(LEAST_REQUEST).flatMap(([name, least]) => {
    const capacity = allocatable.get(name) ?? 0n;
    if (capacity === 0n) return [];
    const used = [...pods, pod].reduce((sum, one) => sum + (requests.of(one).get(name) ?? least), 0n);
    return [Number(used) / Number(capacity)];
  });
}

/** Prefers nodes with few PreferNoSchedule taints that the pod does not tolerate. */
const preferredTaints: Score = ({ spec }, nodes) => {
  const isUnwanted = ({ node }: NodeState) =>
    (node.spec?.taints ?? []).filter(
      (taint) => taint.effect === 'PreferNoSchedule' && !toleratesTaint(spec.tolerations, taint),
    ).length;
  return scaled(forEach(nodes, isUnwanted), { isReversed: true });
};

/** Adds up the weights of the pod's preferred node affinity terms that match the node (NodeAffinity). */
const preferredNodes: Score = ({ spec }, nodes) => {
  const terms = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const weight = (node: NodeState) =>
    sum(terms.filter(({ preference }) => matchesNodeTerm(preference, node)).map((term) => term.weight));
  return scaled(forEach(nodes, weight));
};

/**
 * Adds up the weights of preferred affinity and anti-affinity terms, both the pod's own and those of pods running in the same domain
 * (InterPodAffinity).
 */
const preferredPods: Score = (pod, nodes, snapshot) => {
  const weights = forEach(nodes, ({ labels }) =>
    sum(
      snapshot.nodes.flatMap((other) => other.pods.map((one) => pairWeight({ pod, labels }, { one, other }, snapshot))),
    ),
  );
  const [least, most] = [Math.min(0, ...weights.values()), Math.max(0, ...weights.values())];
  if (least === most) return forEach(nodes, () => 0);
  return new Map(
    [...weights].map(([name, value]) => [name, Math.floor((MAX_SCORE * (value - least)) / (most - least))]),
  );
};

type Candidate = { pod: Pod; labels: NodeState['labels'] };
type Running = { one: Pod; other: NodeState };

function pairWeight({ pod, labels }: Candidate, { one, other }: Running, snapshot: Snapshot): number {
  const isSameDomain = ({ topologyKey }: PodAffinityTerm) =>
    labels[topologyKey] !== undefined && labels[topologyKey] === other.labels[topologyKey];
  const ofTerms = (owner: Pod, target: Pod, sign: 1 | -1) => {
    const { podAffinity, podAntiAffinity } = owner.spec.affinity ?? {};
    const { preferredDuringSchedulingIgnoredDuringExecution: terms = [] } =
      (sign === 1 ? podAffinity : podAntiAffinity) ?? {};
    const matching = terms.filter(
      ({ podAffinityTerm: term }) => isSameDomain(term) && matchesTerm({ term, owner }, target, snapshot),
    );
    return sign * sum(matching.map(({ weight }) => weight));
  };
  return ofTerms(pod, one, 1) + ofTerms(pod, one, -1) + ofTerms(one, pod, 1) + ofTerms(one, pod, -1);
}

/** Prefers domains with few matching pods, for constraints that may be violated (ScheduleAnyway). */
const preferredSpread: Score = (pod, nodes, snapshot) => {
  const constraints = (pod.spec.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway')
    .map((constraint) => ({ ...constraint, labelSelector: selectorOf(constraint, pod) }));
  if (constraints.length === 0) return forEach(nodes, () => 0);
  const hasKey =
    ({ topologyKey }: TopologySpreadConstraint) =>
    (node: NodeState) =>
      Object.hasOwn(node.labels, topologyKey);
  const counts = constraints.map((one) => domainCounts(one, pod, snapshot.nodes.filter(hasKey(one))));
  const found = forEach(nodes, ({ labels }) =>
    sum(constraints.map(({ topologyKey }, index) => counts[index]!.get(labels[topologyKey] ?? '') ?? 0)),
  );
  const scores = scaled(found, { isReversed: true });
  return forEach(nodes, (node) => (constraints.every((one) => hasKey(one)(node)) ? scores.get(node.name)! : 0));
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const SCORES: readonly { score: Score; weight: number }[] = [
  { score: preferredTaints, weight: 3 },
  { score: preferredNodes, weight: 2 },
  { score: preferredSpread, weight: 2 },
  { score: preferredPods, weight: 2 },
  { score: leastAllocated, weight: 1 },
  { score: balancedAllocation, weight: 1 },
];

/** Returns the weighted sum of all scores of each node. */
export function totalScores(pod: Pod, nodes: readonly NodeState[], snapshot: Snapshot): Map<string, number> {
  const all = SCORES.map(({ score, weight }) => ({ scores: score(pod, nodes, snapshot), weight }));
  return forEach(nodes, ({ name }) => sum(all.map(({ scores, weight }) => scores.get(name)! * weight)));
}
