import { findCondition, type PodCondition, type PodStatus } from '@podwright/kube-api';
import { DISRUPTION_TARGET, isOwnCondition } from '../status/foreign-conditions.ts';
import { isTerminal } from '../status/pod-phase.ts';

export type MergeInput = {
  /** The pod's status at the API server. */
  theirs: PodStatus | undefined;
  own: PodStatus;
  /** True if any of the pod's containers may still be running. */
  couldRun: boolean;
  /** True if the object is a static pod's mirror pod: static pods may restart after they have terminated. */
  isMirror?: boolean;
};

/**
 * Returns the status to send: the kubelet's own status, plus conditions set by other clients. A terminal phase and its reason are withheld
 * while containers may be running. A terminal phase at the API server is never reverted (pkg/kubelet/status: mergePodStatus,
 * updateStatusInternal). Pure.
 */
export function mergeStatus({ theirs, own, couldRun, isMirror }: MergeInput): PodStatus {
  const ends = isTerminal(own.phase) && !isTerminal(theirs?.phase);
  const foreign = (theirs?.conditions ?? []).filter((one) => !isOwnCondition(one));
  const ours = (own.conditions ?? []).filter(isOwnCondition);
  const disruption = findCondition(own.conditions, DISRUPTION_TARGET);
  const conditions = [...foreign, ...ours];
  const merged: PodStatus = {
    ...own,
    conditions: ends && !couldRun && disruption !== undefined ? withDisruption(conditions, disruption) : conditions,
  };
  if (theirs?.startTime !== undefined) merged.startTime = theirs.startTime;
  const { observedGeneration } = theirs ?? {};
  if (observedGeneration !== undefined && observedGeneration > (own.observedGeneration ?? 0))
    merged.observedGeneration = observedGeneration;
  if (isTerminal(theirs?.phase) && isMirror !== true) return asEnded(merged, theirs!);
  const waits = ends && couldRun;
  if (isTerminal(own.phase) && !waits) return merged;
  const { reason: _, message: __, ...rest } = merged;
  const phase = waits ? (theirs?.phase ?? 'Pending') : own.phase;
  return { ...rest, ...(phase === theirs?.phase && why(theirs)), phase };
}

/** Returns the status of a pod that is already terminal at the API server even though its containers may still be running. */
function asEnded(own: PodStatus, theirs: PodStatus): PodStatus {
  const { reason: _, message: __, ...rest } = own;
  const conditions = own.conditions?.map((one) =>
    one.type === 'Ready' || one.type === 'ContainersReady' ? { ...one, status: 'False' as const } : one,
  );
  return { ...rest, ...why(theirs), phase: theirs.phase, conditions };
}

function withDisruption(conditions: PodCondition[], one: PodCondition): PodCondition[] {
  const others = conditions.filter(({ type }) => type !== one.type);
  return [one, ...others];
}

function why(status: PodStatus | undefined): Pick<PodStatus, 'reason' | 'message'> {
  const { reason, message } = status ?? {};
  return { ...(reason && { reason }), ...(message && { message }) };
}
