import { formatTime } from '@podwright/kube-api';
import { CRON_JOBS, type CronJob, type CronJobSpec, type CronJobStatus } from '../objects/cron-job.ts';
import type { Job, JobStatus } from '../objects/job.ts';
import { controllerReference } from '../pods/controller-reference.ts';

export const START_MS = Date.parse('2026-01-01T00:00:00Z');
export const minute = (count: number) => START_MS + count * 60_000;

/** A stored CronJob, created at midnight and scheduled every ten minutes. */
export function newCronJob(spec: Partial<CronJobSpec> = {}, status?: CronJobStatus): CronJob {
  const containers = [{ name: 'main', image: 'busybox' }];
  const jobTemplate = { metadata: { labels: { app: 'report' } }, spec: { template: { spec: { containers } } } };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      namespace: 'shop',
      name: 'report',
      uid: 'u1',
      generation: 1,
      creationTimestamp: formatTime(START_MS),
    },
    spec: { schedule: '*/10 * * * *', timeZone: 'UTC', concurrencyPolicy: 'Allow', jobTemplate, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** A Job of the CronJob. `end` is the type of its final condition. */
export function startedJob(name: string, end?: 'Complete' | 'Failed', startedMs = START_MS): Job {
  const time = formatTime(startedMs);
  const status: JobStatus = { startTime: time };
  if (end !== undefined) status.conditions = [{ type: end, status: 'True', lastTransitionTime: time }];
  if (end === 'Complete') status.completionTime = time;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: 'shop',
      name,
      uid: `uid-${name}`,
      ownerReferences: [controllerReference(CRON_JOBS, newCronJob())],
    },
    spec: newCronJob().spec.jobTemplate.spec,
    status,
  };
}
