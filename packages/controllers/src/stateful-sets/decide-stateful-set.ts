/** Decides what a StatefulSet does next with its pods (updateStatefulSet in upstream's stateful_set_control.go). */
import type { Pod } from '@podwright/kube-api';
import { ordinalsOf, type StatefulSet } from '../objects/stateful-set.ts';
import { creationsNow } from '../pods/creation-limit.ts';
import { isAvailable, isEnded, isReady } from '../pods/pod-state.ts';
import type { PodTemplate } from '../pods/pod-template.ts';
import { scaledValue } from '../pods/scaled-value.ts';
import { type NewStatefulPod, newStatefulPod, ordinalOf, revisionOf } from './pod-identity.ts';

/** A pod template and the name of its ControllerRevision. */
export type Revision = { revision: string; template: PodTemplate };

export type StatefulSetState = {
  set: StatefulSet;
  pods: readonly Pod[];
  /** The revision of pods below the partition. */
  current: Revision;
  /** The revision of the StatefulSet's current template. */
  update: Revision;
  /** Whether any claim of an ordinal is still about to be deleted along with an earlier pod. */
  hasStaleClaims: (ordinal: number) => boolean;
  /** Returns whether a terminated pod may be replaced now. Called only once per pod, because each call counts as a replacement. */
  mayReplace: (pod: Pod) => boolean;
  nowMs: number;
};

export type StatefulSetAction =
  | { type: 'create'; pod: NewStatefulPod; ordinal: number }
  | { type: 'delete'; pod: Pod }
  /** Creates a pod's missing claims, and corrects its claims' owners, its labels and its volumes. */
  | { type: 'repair'; pod: Pod; createsClaims: boolean };

/**
 * The actions for a StatefulSet, in phases: a phase starts only if no earlier action has failed. If `isOrdered` is set, a failed action
 * also ends its own phase.
 */
export type StatefulSetDecision = { phases: StatefulSetAction[][]; isOrdered: boolean };

export function decideStatefulSet(state: StatefulSetState): StatefulSetDecision {
  const { set } = state;
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel';
  const places = placesOf(state);
  const replicas = replicaActions(state, places, isOrdered);
  if (replicas.isBlocked) return { phases: [replicas.actions], isOrdered };
  const repairs = places.condemned.map((pod): StatefulSetAction => ({ type: 'repair', pod, createsClaims: false }));
  const condemned = condemnedActions(state, places, isOrdered);
  const phases = [replicas.actions, repairs, condemned.actions];
  if (!condemned.isBlocked) phases.push(updateActions(state, places));
  return { phases, isOrdered };
}

type Replica = { ordinal: number; pod: Pod };

/**
 * The pods of a set, divided into those in its range of ordinals and those outside it. Contains only existing pods, because the number of
 * ordinals can be any 31-bit integer.
 */
type Places = {
  /** The pods with ordinals in the set's range, lowest first. */
  replicas: Replica[];
  /** Pods with ordinals outside the set's range, highest first. */
  condemned: Pod[];
  /** The first ordinal of the set's range; `end` is exclusive. */
  start: number;
  end: number;
};

type Actions = { actions: StatefulSetAction[]; isBlocked: boolean };

function placesOf({ set, pods }: StatefulSetState): Places {
  const { start, end } = ordinalsOf(set);
  const replicas = new Map<number, Pod>();
  const condemned: Replica[] = [];
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal === undefined) continue;
    if (ordinal >= start && ordinal < end) replicas.set(ordinal, pod);
    else condemned.push({ pod, ordinal });
  }
  return {
    replicas: [...replicas].map(([ordinal, pod]) => ({ ordinal, pod })).sort((a, b) => a.ordinal - b.ordinal),
    condemned: condemned.sort((a, b) => b.ordinal - a.ordinal).map(({ pod }) => pod),
    start,
    end,
  };
}

/** Creates missing pods and replaces terminated ones. If ordered, each pod waits until all pods with lower ordinals are available. */
function replicaActions(state: StatefulSetState, places: Places, isOrdered: boolean): Actions {
  const actions: StatefulSetAction[] = [];
  let creations = isOrdered ? 1 : creationsNow(places.end - places.start - places.replicas.length, state.pods);
  /** Creates the pods for the ordinals from `next` up to `end`. Returns whether any are missing. */
  const fill = (next: number, end: number): boolean => {
    for (let ordinal = next; ordinal < end && creations > 0; ordinal++) {
      if (!state.hasStaleClaims(ordinal)) {
        actions.push({ type: 'create', pod: newPodOf(state, ordinal), ordinal });
        creations--;
      }
      if (isOrdered) break;
    }
    return next < end;
  };
  let next = places.start;
  for (const { ordinal, pod } of places.replicas) {
    if (fill(next, ordinal) && isOrdered) return { actions, isBlocked: true };
    next = ordinal + 1;
    if (isOrdered && isStuck(state, { ordinal, pod }, places)) {
      actions.push({ type: 'delete', pod });
    } else if (isEnded(pod)) {
      if (pod.metadata.deletionTimestamp === undefined && state.mayReplace(pod)) actions.push({ type: 'delete', pod });
    } else if (!isOrdered || !isUnavailable(state, pod) || pod.status?.phase === 'Pending')
      actions.push({ type: 'repair', pod, createsClaims: pod.status?.phase === 'Pending' });
    if (isOrdered && (isEnded(pod) || isUnavailable(state, pod))) return { actions, isBlocked: true };
  }
  const isMissing = fill(next, places.end);
  return { actions, isBlocked: isOrdered && isMissing };
}

/**
 * Builds the pod for an ordinal: with the current revision if the ordinal is below the partition, otherwise with the update revision
 * (newVersionedStatefulSetPod).
 */
function newPodOf({ set, current, update }: StatefulSetState, ordinal: number): NewStatefulPod {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  const { start } = ordinalsOf(set);
  const kept = rollingUpdate?.partition ?? (type === 'OnDelete' ? 0 : (set.status?.currentReplicas ?? 0));
  return newStatefulPod(set, ordinal, ordinal < start + kept ? current : update);
}

/**
 * Deletes pods that are no longer part of the set. If ordered, deletes one at a time, and an unavailable one only if all pods with lower
 * ordinals are available.
 */
function condemnedActions(state: StatefulSetState, { replicas, condemned }: Places, isOrdered: boolean): Actions {
  const isLeaving = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;
  if (!isOrdered) {
    const actions = condemned
      .filter((pod) => !isLeaving(pod))
      .map((pod): StatefulSetAction => ({ type: 'delete', pod }));
    return { actions, isBlocked: false };
  }
  const [first] = condemned;
  if (first === undefined) return { actions: [], isBlocked: false };
  const inOrder = [...replicas.map(({ pod }) => pod), ...condemned.toReversed()];
  const firstUnavailable = inOrder.find((pod) => isUnavailable(state, pod));
  const mayDelete = !isLeaving(first) && (!isUnavailable(state, first) || first === firstUnavailable);
  return { actions: mayDelete ? [{ type: 'delete', pod: first }] : [], isBlocked: true };
}

/** Deletes pods that do not have the update revision, highest ordinals first, so that they are recreated from the current template. */
function updateActions(state: StatefulSetState, { replicas, start, end }: Places): StatefulSetAction[] {
  const { type, rollingUpdate = {} } = state.set.spec.updateStrategy ?? {};
  const { partition = 0, maxUnavailable } = rollingUpdate;
  if (type === 'OnDelete') return [];
  const isOutdated = ({ pod }: Replica) =>
    revisionOf(pod) !== state.update.revision && pod.metadata.deletionTimestamp === undefined;
  const candidates = replicas.filter(({ ordinal }) => ordinal >= start + partition).reverse();
  if (maxUnavailable !== undefined) {
    const count = end - start;
    const allowed = Math.max(1, scaledValue(maxUnavailable, count, Math.floor));
    const unavailable = count - replicas.filter(({ pod }) => !isUnavailable(state, pod)).length;
    const outdated = candidates.filter(isOutdated).slice(0, Math.max(0, allowed - unavailable));
    return outdated.map(({ pod }) => ({ type: 'delete', pod }));
  }
  for (const [index, replica] of candidates.entries()) {
    if (replica.ordinal !== end - 1 - index) return []; // a higher one is missing
    if (isOutdated(replica)) return [{ type: 'delete', pod: replica.pod }];
    if (isUnavailable(state, replica.pod)) return [];
  }
  return [];
}

/**
 * Whether the pod is not running (it has not started, or is crash-looping) and an update would replace it. An ordered update would
 * otherwise wait for the pod, so fixing the template would have no effect. Upstream waits until a user deletes the pod.
 */
function isStuck({ set, update }: StatefulSetState, { ordinal, pod }: Replica, { start }: Places): boolean {
  const { type, rollingUpdate: { partition = 0 } = {} } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete' || ordinal < start + partition || revisionOf(pod) === update.revision) return false;
  const { metadata, status } = pod;
  if (metadata.deletionTimestamp !== undefined || isEnded(pod)) return false;
  const states = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
    ({ state }) => state,
  );
  if (states.some((state) => state?.waiting?.reason === 'CrashLoopBackOff')) return true;
  return status?.phase === 'Pending' && states.every((state) => state?.running === undefined);
}

function isUnavailable({ set, nowMs }: StatefulSetState, pod: Pod): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase !== 'Running' || !isReady(pod)) return true;
  return !isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
}
