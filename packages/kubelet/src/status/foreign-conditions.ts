import { PodwrightError } from '@podwright/base';
import type { ConditionStatus, Pod, PodCondition, PodStatus } from '@podwright/kube-api';
import { isRefused } from './generate-pod-status.ts';
import { refreshedConditions, withCondition } from './pod-conditions.ts';

/** A condition as a client gives it. */
export type GivenCondition = { type: string; status: ConditionStatus; reason?: string; message?: string };

/** What to do with the conditions of a pod that are not the kubelet's. With `replace` those that are not set go. */
export type ConditionsPatch = { set: GivenCondition[]; remove: string[]; replace: boolean };

/** Set by the kubelet and by others. */
export const DISRUPTION_TARGET = 'DisruptionTarget';

/** Types that only the kubelet sets; DisruptionTarget is set by others as well. */
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
 * The status with conditions that others have set, such as those of readiness gates, and with what follows for the pod's readiness.
 * Throws `invalid_argument` if one of the kubelet's own would change. Pure.
 */
export function withForeignConditions(
  pod: Pod,
  status: PodStatus,
  { patch, now }: { patch: ConditionsPatch; now: string },
): PodStatus {
  const before = status.conditions ?? [];
  refuseOwn(before, patch);
  const set = patch.set.filter(({ type }) => !OWN_TYPES.has(type));
  const goes = ({ type }: PodCondition) =>
    patch.remove.includes(type) || (patch.replace && !OWN_TYPES.has(type) && !set.some((one) => one.type === type));
  const kept = before.filter((one) => !goes(one));
  const conditions = set.reduce((all, one) => withCondition(all, one, { pod, now }), kept);
  const changed = { ...status, conditions };
  return isRefused(status) ? changed : { ...changed, conditions: refreshedConditions(pod, changed, now) };
}

/** Whether only the kubelet sets conditions of this type. */
export function isOwnCondition({ type }: Pick<PodCondition, 'type'>): boolean {
  return OWN_TYPES.has(type);
}

/** The status with the conditions of others as the API server has them. That a pod is disrupted the kubelet says as well. Pure. */
export function withForeign(status: PodStatus, told: PodStatus | undefined): PodStatus {
  if (told === undefined) return status;
  const foreign = (told.conditions ?? []).filter((one) => !isOwnCondition(one));
  const own = (status.conditions ?? []).filter(
    (one) => isOwnCondition(one) || (one.type === DISRUPTION_TARGET && !foreign.some(({ type }) => type === one.type)),
  );
  return { ...status, conditions: [...foreign, ...own] };
}

/** A client that replaces all conditions sends those of the kubelet's back as it read them. */
function refuseOwn(before: PodCondition[], { set, remove, replace }: ConditionsPatch): void {
  const asRead = ({ type, status }: GivenCondition) =>
    replace && before.some((one) => one.type === type && one.status === status);
  const own =
    set.find((one) => OWN_TYPES.has(one.type) && !asRead(one))?.type ?? remove.find((type) => OWN_TYPES.has(type));
  if (own === undefined) return;
  throw new PodwrightError('invalid_argument', `patch the status: the condition ${own} is the kubelet's own`);
}
