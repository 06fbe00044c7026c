/** Which pods a scale-down deletes first (upstream's ActivePodsWithRanks, pkg/controller/controller_utils.go). */
import { isSidecar, type Pod } from '@podwright/kube-api';
import { isActive, isReady, readyCondition } from '../pods/pod-state.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASE_ORDER: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 };
const NANOSECONDS = 1e6;

/**
 * Returns `count` of the pods, those that a scale-down should delete first. `related` are the pods of all ReplicaSets with the same
 * controller: of two nodes, the one with more of them loses a pod first.
 */
export function podsToDelete(
  pods: readonly Pod[],
  count: number,
  { related, nowMs }: { related: readonly Pod[]; nowMs: number },
): Pod[] {
  if (count >= pods.length) return [...pods];
  const onNode = new Map<string, number>();
  for (const pod of related.filter(isActive)) {
    const node = pod.spec.nodeName ?? '';
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const rankOf = (pod: Pod) => onNode.get(pod.spec.nodeName ?? '') ?? 0;
  return pods.toSorted((a, b) => compare(a, b, { rankOf, nowMs })).slice(0, count);
}

function compare(a: Pod, b: Pod, { rankOf, nowMs }: { rankOf: (pod: Pod) => number; nowMs: number }): number {
  return (
    Number(isAssigned(a)) - Number(isAssigned(b)) ||
    phaseOrder(a) - phaseOrder(b) ||
    Number(isReady(a)) - Number(isReady(b)) ||
    deletionCost(a) - deletionCost(b) ||
    rankOf(b) - rankOf(a) ||
    (isReady(a) ? compareAges(a, b, { timeOf: readyTime, nowMs }) : 0) ||
    compareRestarts(a, b) ||
    compareAges(a, b, { timeOf: creationTime, nowMs })
  );
}

function isAssigned({ spec }: Pod): boolean {
  return (spec.nodeName ?? '') !== '';
}

function phaseOrder({ status }: Pod): number {
  return PHASE_ORDER[status?.phase ?? ''] ?? 0;
}

/** The cost is an integer of 32 bits without a leading `+` or zeros; any other text counts as 0. */
function deletionCost({ metadata: { annotations } }: Pod): number {
  const text = annotations?.[DELETION_COST] ?? '';
  const cost = Number(text);
  return /^(0|-?[1-9]\d*)$/.test(text) && cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

function readyTime(pod: Pod): number {
  return Date.parse(readyCondition(pod)?.lastTransitionTime ?? '');
}

function creationTime({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}

/**
 * Younger pods are first, and those without a time before all others. Ages are compared by their binary logarithm; pods of about the same age
 * are in the order of their UIDs, which is random.
 */
function compareAges(a: Pod, b: Pod, { timeOf, nowMs }: { timeOf: (pod: Pod) => number; nowMs: number }): number {
  const [timeA, timeB] = [timeOf(a), timeOf(b)];
  if (Number.isNaN(timeA) || Number.isNaN(timeB)) return Number(Number.isNaN(timeB)) - Number(Number.isNaN(timeA));
  if (timeA === timeB) return 0;
  const difference = logarithmOf(nowMs - timeA) - logarithmOf(nowMs - timeB);
  return difference !== 0 ? difference : a.metadata.uid < b.metadata.uid ? -1 : 1;
}

function logarithmOf(ageMs: number): number {
  return ageMs > 0 ? Math.trunc(Math.log2(ageMs * NANOSECONDS)) : -1;
}

/** The pod whose container restarted more often is first; sidecars are compared if regular containers are equal. */
function compareRestarts(a: Pod, b: Pod): number {
  const [ofA, ofB] = [restartsOf(a), restartsOf(b)];
  return ofB.regular - ofA.regular || ofB.sidecar - ofA.sidecar;
}

function restartsOf({ spec, status }: Pod): { regular: number; sidecar: number } {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const inits = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  const most = (statuses: readonly { restartCount: number }[]) =>
    Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
  return { regular: most(status?.containerStatuses ?? []), sidecar: most(inits) };
}
