/** CronJobs (batch/v1), limited to the fields used by controllers. The API server has already set the defaults. */
import type { KubeObject, Resource } from '@podwright/kube-api';
import type { Owner } from '../pods/controller-reference.ts';
import type { JobSpec } from './job.ts';

export const CRON_JOBS: Resource = {
  group: 'batch',
  version: 'v1',
  plural: 'cronjobs',
  kind: 'CronJob',
  namespaced: true,
};

/** core/v1 ObjectReference to a Job. */
export type JobReference = {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name: string;
  uid: string;
  resourceVersion?: string;
};

export type CronJobSpec = {
  schedule: string;
  timeZone?: string;
  startingDeadlineSeconds?: number;
  concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace';
  suspend?: boolean;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
  jobTemplate: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: JobSpec };
};

export type CronJobStatus = { active?: JobReference[]; lastScheduleTime?: string; lastSuccessfulTime?: string };

export type CronJob = KubeObject & { metadata: Owner['metadata']; spec: CronJobSpec; status?: CronJobStatus };
