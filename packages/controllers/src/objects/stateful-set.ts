/** StatefulSets (apps/v1), limited to the fields used by controllers. The API server has already set the defaults. */
import type { IntOrString, KubeObject, LabelSelector, PersistentVolumeClaim, Resource } from '@podwright/kube-api';
import type { Owner } from '../pods/controller-reference.ts';
import type { PodTemplate } from '../pods/pod-template.ts';

export const STATEFUL_SETS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
};

export type ClaimRetention = 'Retain' | 'Delete';

export type StatefulSetSpec = {
  replicas?: number;
  selector: LabelSelector;
  template: PodTemplate;
  serviceName?: string;
  podManagementPolicy?: 'OrderedReady' | 'Parallel';
  updateStrategy?: {
    type?: 'RollingUpdate' | 'OnDelete';
    rollingUpdate?: { partition?: number; maxUnavailable?: IntOrString };
  };
  minReadySeconds?: number;
  ordinals?: { start: number };
  revisionHistoryLimit?: number;
  volumeClaimTemplates?: ClaimTemplate[];
  persistentVolumeClaimRetentionPolicy?: { whenDeleted?: ClaimRetention; whenScaled?: ClaimRetention };
};

export type ClaimTemplate = KubeObject & { metadata: { name: string }; spec: PersistentVolumeClaim['spec'] };

export type StatefulSetStatus = {
  observedGeneration?: number;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  currentReplicas?: number;
  updatedReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
  collisionCount?: number;
};

export type StatefulSet = KubeObject & {
  metadata: Owner['metadata'];
  spec: StatefulSetSpec;
  status?: StatefulSetStatus;
};

/** Returns the range of the set's ordinals; `end` is exclusive. */
export function ordinalsOf({ spec: { ordinals, replicas = 1 } }: StatefulSet): { start: number; end: number } {
  const start = ordinals?.start ?? 0;
  return { start, end: start + replicas };
}
