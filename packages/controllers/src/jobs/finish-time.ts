import { type ContainerStatus, findCondition, isSidecar, type Pod } from '@podwright/kube-api';

/**
 * Returns when a pod finished, in Unix milliseconds: when its last container terminated, or else when it became unready, was deleted or was
 * created, in this order (getFinishedTime in upstream's pkg/controller/job/backoff_utils.go).
 */
export function finishedAtMs({ metadata, spec, status }: Pod): number {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const ready = findCondition(status?.conditions, 'Ready');
  const unreadyAt = ready?.status === 'False' ? timeOf(ready.lastTransitionTime) : undefined;
  const deletedAt = timeOf(metadata.deletionTimestamp);
  const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return (
    lastEnd(statuses) ??
    unreadyAt ??
    (deletedAt === undefined ? undefined : deletedAt - graceMs) ??
    timeOf(metadata.creationTimestamp) ??
    0
  );
}

/** Returns when the pod's last container terminated, or nothing if any container has not terminated. */
function lastEnd(statuses: readonly ContainerStatus[]): number | undefined {
  const ends = statuses.map(({ state }) => timeOf(state.terminated?.finishedAt));
  const known = ends.filter((end) => end !== undefined);
  return known.length === ends.length && known.length > 0 ? Math.max(...known) : undefined;
}

function timeOf(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
