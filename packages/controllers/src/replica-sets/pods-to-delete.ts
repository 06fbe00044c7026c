/** The order in which a scale-down deletes pods (upstream's ActivePodsWithRanks, pkg/controller/controller_utils.go). */
import type { Pod } from '@podwright/kube-api';
import { compareProgress, compareRestarts, creationTime, readyTime } from '../pods/deletion-order.ts';
import { isActive, isReady } from '../pods/pod-state.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const NANOSECONDS = 1e6;

/**
 * Returns the `count` pods that a scale-down should delete first. `related` are the pods of all ReplicaSets with the same controller: nodes
 * running more of them lose a pod first.
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
    compareProgress(a, b) ||
    deletionCost(a) - deletionCost(b) ||
    rankOf(b) - rankOf(a) ||
    (isReady(a) ? compareAges(a, b, { timeOf: readyTime, nowMs }) : 0) ||
    compareRestarts(a, b) ||
    compareAges(a, b, { timeOf: creationTime, nowMs })
  );
}

/**
 * Returns the pod's deletion cost from its annotation: a 32-bit integer without a leading `+` or leading zeros. Any other text counts as 0.
 */
function deletionCost({ metadata: { annotations } }: Pod): number {
  const text = annotations?.[DELETION_COST] ?? '';
  const cost = Number(text);
  return /^(0|-?[1-9]\d*)$/.test(text) && cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

/**
 * Sorts younger pods first, and pods without a time before all others. Ages are compared by their binary logarithm; pods of about the same
 * age are ordered by UID, which is random.
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
