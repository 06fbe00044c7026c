import type { IntOrString, KubeMetadata, LabelSelector, PodSpec } from '@podwright/kube-api';

/** Annotation with the revision number, on a Deployment and its ReplicaSets. */
export const REVISION = 'deployment.kubernetes.io/revision';

export type Condition = {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
};

export type PodTemplate = { metadata?: KubeMetadata; spec: PodSpec };

type RollingUpdate = { maxUnavailable?: IntOrString; maxSurge?: IntOrString; partition?: number };

/** The fields of workloads of all kinds that verbs use. Any of them may be missing. */
export type Workload = {
  apiVersion?: string;
  kind?: string;
  metadata: KubeMetadata & { name: string };
  spec: WorkloadSpec;
  status?: WorkloadStatus;
};

export type WorkloadSpec = {
  replicas?: number;
  /** A ReplicationController's or Service's selector: a map of labels. */
  selector?: LabelSelector | Record<string, string>;
  template?: PodTemplate;
  strategy?: { type?: string; rollingUpdate?: RollingUpdate };
  updateStrategy?: { type?: string; rollingUpdate?: RollingUpdate };
  minReadySeconds?: number;
  paused?: boolean;
  progressDeadlineSeconds?: number;
  revisionHistoryLimit?: number;
  volumeClaimTemplates?: ClaimTemplate[];
  parallelism?: number;
  completions?: number;
  completionMode?: string;
  suspend?: boolean;
  backoffLimit?: number;
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  schedule?: string;
  timeZone?: string;
  concurrencyPolicy?: string;
  startingDeadlineSeconds?: number;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
  jobTemplate?: { metadata?: KubeMetadata; spec: WorkloadSpec };
};

export type ClaimTemplate = {
  metadata: KubeMetadata;
  spec: { storageClassName?: string; accessModes?: string[]; resources?: { requests?: { storage?: string } } };
};

export type WorkloadStatus = {
  observedGeneration?: number;
  replicas?: number;
  readyReplicas?: number;
  updatedReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  currentReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
  currentNumberScheduled?: number;
  desiredNumberScheduled?: number;
  updatedNumberScheduled?: number;
  numberAvailable?: number;
  numberMisscheduled?: number;
  numberReady?: number;
  active?: number | { name: string }[];
  ready?: number;
  succeeded?: number;
  failed?: number;
  completedIndexes?: string;
  startTime?: string;
  completionTime?: string;
  lastScheduleTime?: string;
  conditions?: Condition[];
};
