import { humanDuration } from '@podwright/kube-api';
import type { Lines } from '../text/aligned.ts';
import type { Workload, WorkloadSpec } from '../workload.ts';
import { timeText } from './metadata.ts';
import { describePodTemplate } from './pod-template.ts';
import { describeHead, podSelector } from './workloads.ts';

const UNSET = '<unset>';

export function describeJob(lines: Lines, job: Workload): void {
  const { spec, status = {} } = job;
  describeHead(lines, job, ['Selector', 'Labels', 'Annotations', 'Controlled By']);
  lines.field('Parallelism', spec.parallelism ?? UNSET);
  lines.field('Completions', spec.completions ?? UNSET);
  if (spec.completionMode !== undefined) lines.field('Completion Mode', spec.completionMode);
  if (spec.suspend !== undefined) lines.field('Suspend', spec.suspend);
  if (spec.backoffLimit !== undefined) lines.field('Backoff Limit', spec.backoffLimit);
  if (spec.ttlSecondsAfterFinished !== undefined)
    lines.field('TTL Seconds After Finished', spec.ttlSecondsAfterFinished);
  const { startTime, completionTime, active = 0, ready = 0, succeeded = 0, failed = 0 } = status;
  if (startTime !== undefined) lines.field('Start Time', timeText(startTime));
  if (completionTime !== undefined) lines.field('Completed At', timeText(completionTime));
  if (startTime !== undefined && completionTime !== undefined)
    lines.field('Duration', humanDuration(Date.parse(completionTime) - Date.parse(startTime)));
  if (spec.activeDeadlineSeconds !== undefined)
    lines.field('Active Deadline Seconds', `${spec.activeDeadlineSeconds}s`);
  lines.field('Pods Statuses', `${active} Active (${ready} Ready) / ${succeeded} Succeeded / ${failed} Failed`);
  if (spec.completionMode === 'Indexed') lines.field('Completed Indexes', status.completedIndexes || '<none>');
  describePodTemplate(lines, spec.template);
}

export function describeCronJob(lines: Lines, cronJob: Workload): void {
  const { spec, status = {} } = cronJob;
  describeHead(lines, cronJob, ['Labels', 'Annotations']);
  lines.field('Schedule', spec.schedule ?? '');
  lines.field('Concurrency Policy', spec.concurrencyPolicy ?? '');
  lines.field('Suspend', spec.suspend === undefined ? UNSET : spec.suspend ? 'True' : 'False');
  lines.field('Time Zone', spec.timeZone ?? UNSET);
  lines.field('Successful Job History Limit', spec.successfulJobsHistoryLimit ?? UNSET);
  lines.field('Failed Job History Limit', spec.failedJobsHistoryLimit ?? UNSET);
  lines.field(
    'Starting Deadline Seconds',
    spec.startingDeadlineSeconds === undefined ? UNSET : `${spec.startingDeadlineSeconds}s`,
  );
  describeJobTemplate(lines, spec.jobTemplate?.spec ?? {});
  lines.field('Last Schedule Time', status.lastScheduleTime === undefined ? UNSET : timeText(status.lastScheduleTime));
  const active = Array.isArray(status.active) ? status.active : [];
  lines.field('Active Jobs', active.map(({ name }) => name).join(', ') || '<none>');
}

function describeJobTemplate(lines: Lines, spec: WorkloadSpec): void {
  lines.field('Selector', podSelector(spec.selector));
  lines.field('Parallelism', spec.parallelism ?? UNSET);
  lines.field('Completions', spec.completions ?? UNSET);
  if (spec.activeDeadlineSeconds !== undefined)
    lines.field('Active Deadline Seconds', `${spec.activeDeadlineSeconds}s`);
  describePodTemplate(lines, spec.template);
}
