/** The order in which a scale-down deletes an owner's active pods (controller.ActivePods, pkg/controller/controller_utils.go). */
import { isSidecar, type Pod } from '@podwright/kube-api';
import { isReady, readyCondition } from './pod-state.ts';

const PHASE_ORDER: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * Sorts active pods in the order in which they should be deleted: unassigned, pending, unready, most recently ready, most often restarted,
 * newest. ReplicaSets have additional rules.
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

/** Sorts unassigned pods first, then pending ones, then unready ones. */
export function compareProgress(a: Pod, b: Pod): number {
  return (
    Number(isAssigned(a)) - Number(isAssigned(b)) ||
    phaseOrder(a) - phaseOrder(b) ||
    Number(isReady(a)) - Number(isReady(b))
  );
}

/** Sorts the pod with the more often restarted container first. Sidecars are compared only if the regular containers are equal. */
export function compareRestarts(a: Pod, b: Pod): number {
  const [ofA, ofB] = [restartsOf(a), restartsOf(b)];
  return ofB.regular - ofA.regular || ofB.sidecar - ofA.sidecar;
}

/** Returns when the pod became ready, in Unix milliseconds; NaN if unknown. */
export function readyTime(pod: Pod): number {
  return Date.parse(readyCondition(pod)?.lastTransitionTime ?? '');
}

/** Returns when the pod was created, in Unix milliseconds; NaN if unknown. */
export function creationTime({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}

function isAssigned({ spec }: Pod): boolean {
  return (spec.nodeName ?? '') !== '';
}

function phaseOrder({ status }: Pod): number {
  return PHASE_ORDER[status?.phase ?? ''] ?? 0;
}

/** Replaces an unknown time (NaN) with the latest possible one, for sorting. */
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
