import type { LabelSelector, ObjectMeta, Resource } from '@podwright/kube-api';
import type { PodTemplate } from '../pods/pod-template.ts';

export const REPLICA_SETS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
};

export const REPLICATION_CONTROLLERS: Resource = {
  group: '',
  version: 'v1',
  plural: 'replicationcontrollers',
  kind: 'ReplicationController',
  namespaced: true,
};

/** A condition of a ReplicaSet or ReplicationController. Upstream only sets the type `ReplicaFailure`. */
export type ReplicaSetCondition = {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
};

export type ReplicaSetStatus = {
  replicas?: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  /** Number of pods being deleted. ReplicationControllers lack this field. */
  terminatingReplicas?: number;
  observedGeneration?: number;
  conditions?: ReplicaSetCondition[];
};

/** An apps/v1 ReplicaSet as the API server stores it. */
export type ReplicaSet = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: { replicas?: number; minReadySeconds?: number; selector: LabelSelector; template: PodTemplate };
  status?: ReplicaSetStatus;
};

/** A v1 ReplicationController as the API server stores it. */
export type ReplicationController = Omit<ReplicaSet, 'spec'> & {
  spec: { replicas?: number; minReadySeconds?: number; selector?: Record<string, string>; template: PodTemplate };
};
