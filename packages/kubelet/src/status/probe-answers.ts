import { allContainers, type ContainerStatus, type Pod, type PodStatus } from '@podwright/kube-api';
import { type ProbeAnswers, probed } from './container-statuses.ts';
import { refreshedConditions } from './pod-conditions.ts';

/** Returns the status, updated with the current probe results. Pure. */
export function withProbeAnswers(
  pod: Pod,
  status: PodStatus,
  { probes, now }: { probes: ProbeAnswers; now: string },
): PodStatus {
  const refresh = (one: ContainerStatus): ContainerStatus => {
    const container = allContainers(pod.spec).find(({ name }) => name === one.name);
    if (container === undefined || one.containerID === undefined) return one;
    return { ...one, ...probed(pod, one, { container, id: runtimeId(one.containerID), probes }) };
  };
  const { initContainerStatuses, containerStatuses } = status;
  const changed: PodStatus = {
    ...status,
    ...(initContainerStatuses === undefined ? {} : { initContainerStatuses: initContainerStatuses.map(refresh) }),
    ...(containerStatuses === undefined ? {} : { containerStatuses: containerStatuses.map(refresh) }),
  };
  return { ...changed, conditions: refreshedConditions(pod, changed, now) };
}

/** Extracts the container runtime's ID from `<runtime>://<id>`. */
function runtimeId(containerID: string): string {
  return containerID.slice(containerID.indexOf('://') + 3);
}

/** A probe that was succeeding when a status was published. */
export type GoodAnswer = { kind: 'readiness' | 'startup'; containerName: string; containerId: string };

/** Returns the successful probe results that can be inferred from the statuses of running containers. Pure. */
export function goodAnswers({ spec }: Pod, status: PodStatus | undefined): GoodAnswer[] {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.flatMap(({ name, state, containerID, started, ready }) => {
    const container = allContainers(spec).find((one) => one.name === name);
    if (state.running === undefined || containerID === undefined) return [];
    const about = { containerName: name, containerId: runtimeId(containerID) };
    return [
      ...(started && container?.startupProbe !== undefined ? [{ kind: 'startup' as const, ...about }] : []),
      ...(ready && container?.readinessProbe !== undefined ? [{ kind: 'readiness' as const, ...about }] : []),
    ];
  });
}
