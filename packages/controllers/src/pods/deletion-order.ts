/** Which of the active pods of an owner a scale-down deletes first (controller.ActivePods, pkg/controller/controller_utils.go). */
import { isSidecar, type Pod } from '@podwright/kube-api';
import { isReady, readyCondition } from './pod-state.ts';

const PHASE_ORDER: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * Sorts active pods so that those that should be deleted first are first: unassigned, pending, unready, ready for a short time, restarted often,
 * created last. ReplicaSets have further rules.
 */
export function inDeletionOrder(pods: readonly Pod[]): Pod[] {
  return pods.toSorted(
    (a, b) =>
      compareProgress(a, b) ||
      (isReady(a) ? latest(readyTime(b)) - latest(readyTime(a)) : 0) ||
      compareRestarts(a, b) ||
      latest(creationTime(b)) - latest(creationTime(a)),
  );
}

/** Unassigned pods are first, then pending ones, then unready ones. */
export function compareProgress(a: Pod, b: Pod): number {
  return (
    Number(isAssigned(a)) - Number(isAssigned(b)) ||
    phaseOrder(a) - phaseOrder(b) ||
    Number(isReady(a)) - Number(isReady(b))
  );
}

/** The pod whose container restarted more often is first; sidecars are compared if regular containers are equal. */
export function compareRestarts(a: Pod, b: Pod): number {
  const [ofA, ofB] = [restartsOf(a), restartsOf(b)];
  return ofB.regular - ofA.regular || ofB.sidecar - ofA.sidecar;
}

/** Returns when the pod became ready, in Unix milliseconds; NaN if that is not known. */
export function readyTime(pod: Pod): number {
  return Date.parse(readyCondition(pod)?.lastTransitionTime ?? '');
}

/** Returns when the pod was created, in Unix milliseconds; NaN if that is not known. */
export function creationTime({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}

function isAssigned({ spec }: Pod): boolean {
  return (spec.nodeName ?? '') !== '';
}

function phaseOrder({ status }: Pod): number {
  return PHASE_ORDER[status?.phase ?? ''] ?? 0;
}

/** A time that is not known counts as the latest. */
function latest(ms: number): number {
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms;
}

function restartsOf({ spec, status }: Pod): { regular: number; sidecar: number } {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const inits = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  const most = (statuses: readonly { restartCount: number }[]) =>
    Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
  return { regular: most(status?.containerStatuses ?? []), sidecar: most(inits) };
}
