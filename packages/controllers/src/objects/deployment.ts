import type { IntOrString, LabelSelector, ObjectMeta, Resource } from '@podwright/kube-api';
import type { PodTemplate } from '../pods/pod-template.ts';

export const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};

export type DeploymentCondition = {
  type: 'Progressing' | 'Available' | 'ReplicaFailure' | (string & {});
  status: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
};

export type DeploymentStatus = {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  collisionCount?: number;
  conditions?: DeploymentCondition[];
};

export type DeploymentStrategy = {
  type?: 'Recreate' | 'RollingUpdate';
  rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString };
};

/** An apps/v1 Deployment as the API server stores it. */
export type Deployment = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplate;
    strategy?: DeploymentStrategy;
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    progressDeadlineSeconds?: number;
    paused?: boolean;
  };
  status?: DeploymentStatus;
};
