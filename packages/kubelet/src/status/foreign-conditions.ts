import { PodwrightError } from '@podwright/base';
import type { ConditionStatus, Pod, PodCondition, PodStatus } from '@podwright/kube-api';
import { isRefused } from './generate-pod-status.ts';
import { refreshedConditions, withCondition } from './pod-conditions.ts';

/** A pod condition set by a client. */
export type GivenCondition = { type: string; status: ConditionStatus; reason?: string; message?: string };

/** Changes to conditions that the kubelet does not own. `replace`: also removes those that are not in `set`. */
export type ConditionsPatch = { set: GivenCondition[]; remove: string[]; replace: boolean };

/** A condition type that is set both by the kubelet and by other writers. */
export const DISRUPTION_TARGET = 'DisruptionTarget';

/** Condition types that only the kubelet sets. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'PodResizePending',
  'PodResizeInProgress',
  'AllContainersRestarting',
]);

/**
 * Applies changes to other writers' conditions, such as readiness gates, and updates the pod's readiness. Throws `invalid_argument` if a
 * condition owned by the kubelet would change. Pure.
 */
export function withForeignConditions(
  pod: Pod,
  status: PodStatus,
  { patch, now }: { patch: ConditionsPatch; now: string },
): PodStatus {
  const before = status.conditions ?? [];
  refuseOwn(before, patch);
  const set = patch.set.filter(({ type }) => !OWN_TYPES.has(type));
  const isRemoved = ({ type }: PodCondition) =>
    patch.remove.includes(type) || (patch.replace && !OWN_TYPES.has(type) && !set.some((one) => one.type === type));
  const kept = before.filter((one) => !isRemoved(one));
  const conditions = set.reduce((all, one) => withCondition(all, one, { pod, now }), kept);
  const changed = { ...status, conditions };
  return isRefused(status) ? changed : { ...changed, conditions: refreshedConditions(pod, changed, now) };
}

/** Whether only the kubelet sets conditions of this type. */
export function isOwnCondition({ type }: Pick<PodCondition, 'type'>): boolean {
  return OWN_TYPES.has(type);
}

/**
 * Returns the status with other writers' conditions taken from the API server. DisruptionTarget may come from the kubelet or from other
 * writers. Pure.
 */
export function withForeign(status: PodStatus, theirs: PodStatus | undefined): PodStatus {
  if (theirs === undefined) return status;
  const foreign = (theirs.conditions ?? []).filter((one) => !isOwnCondition(one));
  const own = (status.conditions ?? []).filter(
    (one) => isOwnCondition(one) || (one.type === DISRUPTION_TARGET && !foreign.some(({ type }) => type === one.type)),
  );
  return { ...status, conditions: [...foreign, ...own] };
}

/** Rejects changes to the kubelet's own conditions. If `replace` is set, a client may send them back unchanged. */
function refuseOwn(before: PodCondition[], { set, remove, replace }: ConditionsPatch): void {
  const asRead = ({ type, status }: GivenCondition) =>
    replace && before.some((one) => one.type === type && one.status === status);
  const own =
    set.find((one) => OWN_TYPES.has(one.type) && !asRead(one))?.type ?? remove.find((type) => OWN_TYPES.has(type));
  if (own === undefined) return;
  throw new PodwrightError('invalid_argument', `patch the status: the condition ${own} is the kubelet's own`);
}
