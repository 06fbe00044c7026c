import type { ContainerState, ContainerStatus, Pod } from '@podwright/kube-api';

/** A container status, by default of a waiting container. */
export function status(name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, state, lastState: {}, ready: false, restartCount: 0, image: 'i', imageID: '', ...more };
}

export const RUNNING: ContainerState = { running: { startedAt: '2026-01-01T00:00:00Z' } };

export function ended(exitCode: number, containerID = `x://${exitCode}`): ContainerState {
  return { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', containerID } };
}

export type PodParts = {
  containers: ContainerStatus[];
  init?: ContainerStatus[];
  restartPolicy?: Pod['spec']['restartPolicy'];
  ready?: boolean;
} & Partial<Pick<NonNullable<Pod['status']>, 'phase' | 'reason' | 'message'>>;

/** Returns the pod `web` with these container statuses. */
export function podOf({
  containers,
  init = [],
  restartPolicy = 'Always',
  ready,
  phase = 'Running',
  ...rest
}: PodParts) {
  const spec = (statuses: ContainerStatus[]) => statuses.map(({ name }) => ({ name, image: 'i' }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'u1' },
    spec: { restartPolicy, containers: spec(containers), initContainers: spec(init) },
    status: {
      phase,
      ...rest,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: containers,
      initContainerStatuses: init,
    },
  } as unknown as Pod;
}
