import type { ContainerStatus, PodStatus } from '@podwright/kube-api';

const LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;

/**
 * What a kubelet has kept of a pod, with the ends and starts of containers that it has told the API server of as well: it may have been
 * killed before it wrote them down. No end is taken back, as API servers take that for a mistake. Pure.
 */
export function withTold(status: PodStatus, told: PodStatus | undefined): PodStatus {
  const result = { ...status };
  for (const name of LISTS) {
    const known = new Map(told?.[name]?.map((one) => [one.name, one]));
    const merged = status[name]?.map((own) => later(own, known.get(own.name)));
    if (merged !== undefined) result[name] = merged;
  }
  return result;
}

function later(own: ContainerStatus, told: ContainerStatus | undefined): ContainerStatus {
  if (told === undefined || told.restartCount < own.restartCount) return own;
  const isNewer = told.restartCount > own.restartCount || own.state.terminated === undefined;
  return isNewer && told.state.terminated !== undefined ? told : own;
}
