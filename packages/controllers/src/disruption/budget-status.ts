/** Computes the status of a PodDisruptionBudget (pkg/controller/disruption/disruption.go). Pure. */
import { findCondition, formatTime, type Pod } from '@podwright/kube-api';
import { isFromBefore } from '../framework/remaining-time.ts';
import { stableJson } from '../framework/stable-hash.ts';
import type { BudgetCondition, BudgetStatus, PodDisruptionBudget } from '../objects/pod-disruption-budget.ts';
import { isReady } from '../pods/pod-state.ts';
import { scaledValue } from '../pods/scaled-value.ts';

const DISRUPTION_ALLOWED = 'DisruptionAllowed';
/** Time after an eviction within which the pod must be marked for deletion. */
const DELETION_TIMEOUT_MS = 120_000;

export type BudgetInput = {
  budget: PodDisruptionBudget;
  /** The pods that match the budget's selector. */
  pods: readonly Pod[];
  /** Sum of the sizes of the pods' controllers. Unused if `minAvailable` is a number. */
  scale: number;
  nowMs: number;
};

export type BudgetDecision = {
  status: BudgetStatus;
  /** Pods that were evicted but not marked for deletion in time. */
  notDeleted: Pod[];
  /** Time until the next pending eviction counts as failed, in milliseconds; undefined if none is pending. */
  recheckMs: number | undefined;
};

/** Whether the expected number of pods depends on the total size of their controllers. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';
}

export function decideBudget(input: BudgetInput): BudgetDecision {
  const { budget, pods, nowMs } = input;
  const { expectedPods, desiredHealthy } = expectation(input);
  const { disruptedPods, notDeleted, recheckMs } = disruptions(input);
  const isHealthy = (pod: Pod) => pod.metadata.deletionTimestamp === undefined && isReady(pod);
  const currentHealthy = pods.filter((pod) => isHealthy(pod) && disruptedPods[pod.metadata.name] === undefined).length;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const observedGeneration = budget.metadata.generation ?? 0;
  const condition = {
    type: DISRUPTION_ALLOWED,
    status: disruptionsAllowed > 0 ? 'True' : 'False',
    reason: disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
  };
  const { disruptedPods: _before, conditions = [], ...rest } = budget.status ?? {};
  const status = {
    ...rest,
    observedGeneration,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed,
    ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
    conditions: withCondition(conditions, condition, nowMs),
  };
  return { status, notDeleted, recheckMs };
}

/** Returns the status of a budget that could not be computed: no evictions are allowed. */
export function failedStatus({ status = {} }: PodDisruptionBudget, message: string, nowMs: number): BudgetStatus {
  const { observedGeneration = 0, conditions = [] } = status;
  const condition = { type: DISRUPTION_ALLOWED, status: 'False', reason: 'SyncFailed', message, observedGeneration };
  return { ...status, disruptionsAllowed: 0, conditions: withCondition(conditions, condition, nowMs) };
}

/** Whether two statuses are equal. Absent counts are 0. */
export function isSameStatus(a: BudgetStatus = {}, b: BudgetStatus = {}): boolean {
  const text = ({ disruptedPods = {}, conditions = [], ...status }: BudgetStatus) => {
    const { observedGeneration = 0, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = status;
    const counts = [observedGeneration, currentHealthy, desiredHealthy, expectedPods, status.disruptionsAllowed ?? 0];
    return stableJson([counts, disruptedPods, conditions]);
  };
  return text(a) === text(b);
}

function expectation({ budget: { spec }, pods, scale }: BudgetInput): { expectedPods: number; desiredHealthy: number } {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable !== undefined) {
    const desired = scale - scaledValue(maxUnavailable, scale, Math.ceil);
    return { expectedPods: scale, desiredHealthy: Math.max(0, desired) };
  }
  if (typeof minAvailable === 'number') return { expectedPods: pods.length, desiredHealthy: minAvailable };
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  return { expectedPods: scale, desiredHealthy: scaledValue(minAvailable, scale, Math.ceil) };
}

/** Determines which evictions have not yet led to the deletion of their pods, and when the next of them counts as failed. */
function disruptions({ budget, pods, nowMs }: BudgetInput) {
  const before = budget.status?.disruptedPods ?? {};
  const waiting = pods.flatMap((pod) => {
    const time = before[pod.metadata.name];
    const isExpected = pod.metadata.deletionTimestamp === undefined && time !== undefined;
    const evictedMs = isExpected ? Date.parse(time) : 0;
    return isExpected ? [{ pod, time, evictedMs, leftMs: evictedMs + DELETION_TIMEOUT_MS - nowMs }] : [];
  });
  const kept = waiting.filter(({ evictedMs, leftMs }) => leftMs >= 0 && !isFromBefore(evictedMs, nowMs));
  return {
    disruptedPods: Object.fromEntries(kept.map(({ pod, time }) => [pod.metadata.name, time] as const)),
    notDeleted: waiting.filter((one) => !kept.includes(one)).map(({ pod }) => pod),
    recheckMs: kept.length === 0 ? undefined : Math.min(...kept.map(({ leftMs }) => leftMs)),
  };
}

/** Sets a condition. Its transition time changes only if its status does (meta.SetStatusCondition). */
function withCondition(
  conditions: readonly BudgetCondition[],
  condition: Omit<BudgetCondition, 'lastTransitionTime'>,
  nowMs: number,
): BudgetCondition[] {
  const known = findCondition(conditions, condition.type);
  if (known === undefined) return [...conditions, { ...condition, lastTransitionTime: formatTime(nowMs) }];
  const lastTransitionTime = known.status === condition.status ? known.lastTransitionTime : formatTime(nowMs);
  return conditions.map((one) => (one === known ? { ...condition, lastTransitionTime } : one));
}
