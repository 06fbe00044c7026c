/** Upstream's DefaultPreemption: finds pods of lower priority to make room for a pod that fits on no node. Pure. */
import { findCondition, matchesLabelSelector, type Pod, podPriority } from '@podwright/kube-api';
import { nominatedNode } from '../cluster/nominated-node.ts';
import type { Budget } from '../cluster/objects.ts';
import type { NodeState, Snapshot } from '../cluster/snapshot.ts';
import type { Rejection } from '../filters/filter.ts';
import { type NominatedPods, rejectionBy } from './filter-nodes.ts';
import { fitMessage } from './fit-message.ts';

/** Pods to remove from a node, most important first. */
export type Preemption = { node: string; victims: Pod[] };

/** The pods to preempt on a node or, if there is no preemption, `message`: the reason in upstream's wording. */
export type PreemptionResult = Preemption | { message: string };

type Candidate = Preemption & { violations: number };

/** Results of filtering the nodes. `rejections` is keyed by node name. */
type Filtered = { rejections: ReadonlyMap<string, Rejection>; nominated: NominatedPods };

/** Returns the pods to remove so that the pod fits on a node, or why removing pods does not help. */
export function findPreemption(pod: Pod, snapshot: Snapshot, { rejections, nominated }: Filtered): PreemptionResult {
  const ineligible = whyIneligible(pod, snapshot, rejections);
  if (ineligible !== undefined) return { message: ineligible };
  const candidates: Candidate[] = [];
  const failures: Rejection[] = [];
  for (const node of snapshot.nodes) {
    const isHopeless = rejections.get(node.name)?.isFinal ?? true;
    const found = isHopeless ? NOT_HELPFUL : victimsOn({ pod, snapshot, node }, nominated);
    if ('reasons' in found) failures.push(found);
    else candidates.push(found);
  }
  if (candidates.length === 0)
    return { message: fitMessage({ nodeCount: snapshot.nodes.length, rejections: failures }) };
  const { node, victims } = bestOf(candidates);
  return { node, victims };
}

const NOT_HELPFUL: Rejection = { reasons: ['Preemption is not helpful for scheduling'], isFinal: true };
const NO_VICTIMS: Rejection = { reasons: ['No preemption victims found for incoming pod'], isFinal: true };

function whyIneligible(pod: Pod, { nodes }: Snapshot, rejections: ReadonlyMap<string, Rejection>): string | undefined {
  if (pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = nominatedNode(pod);
  if (nominated === undefined || rejections.get(nominated)?.isFinal === true) return undefined;
  const others = nodes.find(({ name }) => name === nominated)?.pods ?? [];
  const isMakingRoom = others.some((other) => podPriority(other) < podPriority(pod) && isPreempted(other));
  return isMakingRoom ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

function isPreempted({ metadata, status }: Pod): boolean {
  const target = findCondition(status?.conditions, 'DisruptionTarget');
  return (
    metadata.deletionTimestamp !== undefined && target?.status === 'True' && target.reason === 'PreemptionByScheduler'
  );
}

/**
 * Selects the pods to preempt on a node: all pods of lower priority except for as many as still fit together with the pod. Spares first
 * those whose removal would violate a PodDisruptionBudget.
 */
function victimsOn(
  { pod, snapshot, node }: { pod: Pod; snapshot: Snapshot; node: NodeState },
  nominated: NominatedPods,
): Candidate | Rejection {
  const potential = node.pods.filter((other) => podPriority(other) < podPriority(pod)).sort(byImportance);
  if (potential.length === 0) return NO_VICTIMS;
  let current = node.withPods(node.pods.filter((other) => !potential.includes(other)));
  const rejection = rejectionBy({ pod, snapshot, node: current }, nominated);
  if (rejection !== undefined) return rejection;
  const violating = new Set(violatingPods(potential, snapshot.budgets));
  const victims: Pod[] = [];
  for (const other of [...potential].sort((a, b) => Number(violating.has(b)) - Number(violating.has(a)))) {
    const restored = current.withPod(other);
    if (rejectionBy({ pod, snapshot, node: restored }, nominated) === undefined) current = restored;
    else victims.push(other);
  }
  const violations = victims.filter((victim) => violating.has(victim)).length;
  return { node: node.name, victims: victims.sort(byImportance), violations };
}

/** Returns the pods whose removal, in this order, would violate a PodDisruptionBudget. */
function violatingPods(pods: readonly Pod[], budgets: readonly Budget[]): Pod[] {
  const allowed = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  return pods.filter((pod) => {
    const matching = budgets.filter((budget) => covers(budget, pod));
    for (const budget of matching) allowed.set(budget, allowed.get(budget)! - 1);
    return matching.some((budget) => allowed.get(budget)! < 0);
  });
}

function covers({ metadata, spec, status }: Budget, pod: Pod): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {};
  const isEmpty = Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
  if (isEmpty || metadata.namespace !== pod.metadata.namespace) return false;
  const isDisrupted = Object.hasOwn(status?.disruptedPods ?? {}, pod.metadata.name);
  return !isDisrupted && matchesLabelSelector(spec?.selector, pod.metadata.labels);
}

function byImportance(a: Pod, b: Pod): number {
  return podPriority(b) - podPriority(a) || startOf(a) - startOf(b);
}

const startOf = ({ status }: Pod): number =>
  status?.startTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(status.startTime);

/**
 * Compares candidates by upstream's criteria, in order: violated budgets, highest priority, sum of priorities, number of pods, latest start
 * of the most important ones.
 */
function bestOf(candidates: readonly Candidate[]): Candidate {
  const keys = new Map(candidates.map((candidate) => [candidate, sortKey(candidate)]));
  return candidates.toSorted((a, b) => {
    const [first, second] = [keys.get(a)!, keys.get(b)!];
    const at = first.findIndex((value, index) => value !== second[index]);
    return at < 0 ? 0 : first[at]! - second[at]!;
  })[0]!;
}

/** Added to each priority, so that a node with few pods of negative priority does not rank behind one with many. */
const PRIORITY_OFFSET = 2 ** 31;

function sortKey({ victims, violations }: Candidate): number[] {
  const priorities = victims.map(podPriority);
  const highest = Math.max(...priorities);
  const starts = victims.filter((victim) => podPriority(victim) === highest).map(startOf);
  const sum = priorities.reduce((total, priority) => total + priority + PRIORITY_OFFSET, 0);
  return [violations, highest, sum, victims.length, -Math.min(...starts)];
}
