import { isSidecar, type Pod } from '@podwright/kube-api';
import { isReady, readyCondition } from './pod-state.ts';

const PHASE_ORDER: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * Sorts active pods so that those that should be deleted first are first: unassigned, pending, unready, ready for a short time, restarted often,
 * created last (controller.ActivePods). ReplicaSets have further rules.
 */
export function inDeletionOrder(pods: readonly Pod[]): Pod[] {
  return pods.toSorted(
    (a, b) =>
      Number((a.spec.nodeName ?? '') !== '') - Number((b.spec.nodeName ?? '') !== '') ||
      phaseOrder(a) - phaseOrder(b) ||
      Number(isReady(a)) - Number(isReady(b)) ||
      (isReady(a) ? readySince(b) - readySince(a) : 0) ||
      restartsOf(b).regular - restartsOf(a).regular ||
      restartsOf(b).sidecar - restartsOf(a).sidecar ||
      timeOf(b.metadata.creationTimestamp) - timeOf(a.metadata.creationTimestamp),
  );
}

function phaseOrder({ status }: Pod): number {
  return PHASE_ORDER[status?.phase ?? ''] ?? 0;
}

function readySince(pod: Pod): number {
  return timeOf(readyCondition(pod)?.lastTransitionTime);
}

/** A time that is not known counts as the latest. */
function timeOf(time: string | undefined): number {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms;
}

function restartsOf({ spec, status }: Pod): { regular: number; sidecar: number } {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const inits = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  const most = (statuses: readonly { restartCount: number }[]) =>
    Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
  return { regular: most(status?.containerStatuses ?? []), sidecar: most(inits) };
}
