import type { ContainerState, KubeObject, Pod, PodPhase } from '@podwright/kube-api';
import type { StatefulSet, StatefulSetSpec, StatefulSetStatus } from '../objects/stateful-set.ts';
import { newStatefulPod } from './pod-identity.ts';

/** A stored StatefulSet with the API server's defaults. */
export function newStatefulSet(spec: Partial<StatefulSetSpec> = {}, status?: StatefulSetStatus): StatefulSet {
  const containers = [{ name: 'main', image: 'db:1' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { namespace: 'shop', name: 'db', uid: 'u1', generation: 1 },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'db' } },
      template: { metadata: { labels: { app: 'db' } }, spec: { containers } },
      serviceName: 'db',
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 2,
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

export const CLAIM_TEMPLATE = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } },
} as NonNullable<StatefulSetSpec['volumeClaimTemplates']>[number];

export type PodOptions = {
  phase?: PodPhase;
  isReady?: boolean;
  isDeleting?: boolean;
  revision?: string;
  readyAt?: string;
  reason?: string;
  /** The state of the pod's only container. Default: unknown. */
  state?: ContainerState;
};

/** A pod of the StatefulSet, running and ready by default. */
export function statefulPod(set: StatefulSet, ordinal: number, options: PodOptions = {}): Pod {
  const { phase = 'Running', isReady = phase === 'Running', isDeleting = false, revision = 'db-1' } = options;
  const { readyAt = '2026-01-01T00:00:00Z', reason, state } = options;
  const main = { name: 'main', lastState: {}, ready: isReady, restartCount: 0, image: 'db:1', imageID: 'i' };
  const { metadata, ...pod } = newStatefulPod(set, ordinal, { template: set.spec.template, revision });
  return {
    ...pod,
    metadata: {
      ...metadata,
      namespace: 'shop',
      uid: `uid-${ordinal}`,
      ...(isDeleting ? { deletionTimestamp: '2026-01-01T00:00:30Z' } : {}),
    } as KubeObject['metadata'] & Pod['metadata'],
    status: {
      phase,
      ...(reason === undefined ? {} : { reason }),
      ...(state === undefined ? {} : { containerStatuses: [{ ...main, state }] }),
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: readyAt }],
    },
  };
}
