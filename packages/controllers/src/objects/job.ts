/** Jobs (batch/v1), limited to the fields used by controllers. The API server has already set the defaults. */
import type { ConditionStatus, KubeObject, LabelSelector, Resource } from '@podwright/kube-api';
import type { Owner } from '../pods/controller-reference.ts';
import type { PodTemplate } from '../pods/pod-template.ts';

export const JOBS: Resource = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true };

export type JobSpec = {
  selector?: LabelSelector;
  template: PodTemplate;
  parallelism?: number;
  /** Number of pods that must succeed. If absent, the success of any pod completes the Job. */
  completions?: number;
  completionMode?: string;
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  suspend?: boolean;
  podReplacementPolicy?: 'TerminatingOrFailed' | 'Failed';
  podFailurePolicy?: PodFailurePolicy;
  successPolicy?: { rules: SuccessRule[] };
  managedBy?: string;
};

export type PodFailurePolicy = { rules: PodFailureRule[] };
export type PodFailureAction = 'FailJob' | 'FailIndex' | 'Ignore' | 'Count';
export type PodFailureRule = {
  action: PodFailureAction;
  onExitCodes?: ExitCodeRequirement;
  onPodConditions?: { type: string; status: ConditionStatus }[];
};
export type ExitCodeRequirement = { containerName?: string; operator: 'In' | 'NotIn'; values: number[] };

/** A rule of a success policy. At least one of the fields is set. */
export type SuccessRule = { succeededIndexes?: string; succeededCount?: number };

export type JobCondition = {
  type: string;
  status: ConditionStatus;
  lastProbeTime?: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
};

export type JobStatus = {
  conditions?: JobCondition[];
  startTime?: string;
  completionTime?: string;
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  completedIndexes?: string;
  failedIndexes?: string;
  uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] };
};

export type Job = KubeObject & { metadata: Owner['metadata']; spec: JobSpec; status?: JobStatus };

/** Returns the condition that ended the Job: `Complete` or `Failed`. */
export function finishedCondition({ status }: Job): JobCondition | undefined {
  return status?.conditions?.find(
    (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  );
}

export function isFinished(job: Job): boolean {
  return finishedCondition(job) !== undefined;
}

/** The value of `managedBy` for this package's controller. */
const OWN_NAME = 'kubernetes.io/job-controller';

/** Whether the Job is managed by another controller. */
export function isManagedByOther({ spec: { managedBy = OWN_NAME } }: Job): boolean {
  return managedBy !== OWN_NAME;
}
