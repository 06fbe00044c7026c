import type { OwnerReference, Pod, PodPhase } from '@podwright/kube-api';

export type TestPod = {
  name?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  controller?: OwnerReference;
  node?: string;
  phase?: PodPhase;
  /** When the pod became ready, in Unix milliseconds. */
  readySinceMs?: number;
  createdMs?: number;
  isDeleting?: boolean;
  restarts?: number;
};

export function testPod({ name = 'p', labels = {}, annotations, controller, node = 'n1', ...state }: TestPod): Pod {
  const { phase = 'Running', readySinceMs, createdMs, isDeleting = false, restarts = 0 } = state;
  const time = (ms: number) => new Date(ms).toISOString();
  const ready = { type: 'Ready', status: 'True' as const, lastTransitionTime: time(readySinceMs ?? 0) };
  const main = { name: 'c', state: {}, lastState: {}, ready: true, restartCount: restarts, image: 'i', imageID: 'i' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'shop',
      name,
      uid: `uid-${name}`,
      labels,
      ...(annotations === undefined ? {} : { annotations }),
      ...(controller === undefined ? {} : { ownerReferences: [controller] }),
      ...(createdMs === undefined ? {} : { creationTimestamp: time(createdMs) }),
      ...(isDeleting ? { deletionTimestamp: time(0) } : {}),
    },
    spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }] },
    status: { phase, containerStatuses: [main], conditions: readySinceMs === undefined ? [] : [ready] },
  };
}
