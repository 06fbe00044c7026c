/** Decides what a CronJob does now (syncCronJob in upstream's pkg/controller/cronjob/cronjob_controllerv2.go). */
import { errorMessage } from '@podwright/base';
import type { EventType } from '@podwright/kube-api';
import type { CronJob, CronJobStatus, JobReference } from '../objects/cron-job.ts';
import { finishedCondition, type Job } from '../objects/job.ts';
import { InvalidScheduleError, type MissedTimes, missedTimes, untilNextMs } from './missed-times.ts';
import { parseSchedule, type Schedule } from './schedule.ts';
import { WallClock } from './wall-clock.ts';

export type CronJobState = {
  cronJob: CronJob;
  /** The Jobs controlled by the CronJob. */
  jobs: readonly Job[];
  /** UIDs of Jobs in the CronJob's status that no longer exist. */
  missing: ReadonlySet<string>;
  /** Schedule times before this are ignored: it is when the schedule was last changed or the system time was set back. */
  beginMs: number;
  nowMs: number;
};

export type CronJobEvent = readonly [type: EventType, reason: string, message: string];

export type CronJobDecision = {
  /** The CronJob's new status, not yet including a Job about to be started. */
  status: CronJobStatus;
  events: CronJobEvent[];
  /** The scheduled time of the Job to start, in Unix milliseconds. */
  startForMs?: number;
  /** Jobs to delete before starting the new one. */
  replaces: JobReference[];
  /** Time until the CronJob must be decided again, in milliseconds. */
  againInMs?: number;
};

export function decideCronJob(state: CronJobState): CronJobDecision {
  const { cronJob, beginMs, nowMs } = state;
  const { status, events } = withoutEnded(state);
  const idle: CronJobDecision = { status, events, replaces: [] };
  if (cronJob.metadata.deletionTimestamp !== undefined || !hasZone(cronJob, events) || cronJob.spec.suspend === true)
    return idle;
  const current = { ...cronJob, status };
  const schedule = scheduleOf(cronJob, events);
  const missed = schedule === undefined ? undefined : timesOf(current, schedule, { beginMs, nowMs, events });
  if (schedule === undefined || missed === undefined) return idle;
  const waits = { ...idle, againInMs: untilNextMs(current, schedule, { beginMs, nowMs }) };
  const { lastMs } = missed;
  if (lastMs === undefined || !mayStart(current, lastMs, { nowMs, events })) return waits;
  const replaces = cronJob.spec.concurrencyPolicy === 'Replace' ? (status.active ?? []) : [];
  return { ...idle, startForMs: lastMs, replaces };
}

/** Returns the name of the Job for a scheduled time. It contains the time in minutes, so no Job is started twice. */
export function jobName({ metadata: { name } }: CronJob, startForMs: number): string {
  return `${name}-${Math.floor(startForMs / 60_000)}`;
}

/** Returns the CronJob's status without finished and missing Jobs, and the events about the removed ones. */
function withoutEnded({ cronJob, jobs, missing }: CronJobState): { status: CronJobStatus; events: CronJobEvent[] } {
  const events: CronJobEvent[] = [];
  const { active = [], lastSuccessfulTime, ...rest } = cronJob.status ?? {};
  const activeUids = new Set(active.map(({ uid }) => uid));
  const ended = new Set(missing);
  let lastSuccess = lastSuccessfulTime;
  for (const { metadata, ...job } of jobs) {
    const condition = finishedCondition({ metadata, ...job });
    const isListed = activeUids.has(metadata.uid);
    if (condition === undefined && !isListed)
      events.push([
        'Warning',
        'UnexpectedJob',
        `Saw a job that the controller did not create or forgot: ${metadata.name}`,
      ]);
    if (condition === undefined) continue;
    if (isListed) {
      ended.add(metadata.uid);
      events.push(['Normal', 'SawCompletedJob', `Saw completed job: ${metadata.name}, condition: ${condition.type}`]);
    }
    const { completionTime } = job.status ?? {};
    if (condition.type !== 'Complete' || completionTime === undefined) continue;
    if (lastSuccess === undefined || Date.parse(completionTime) > Date.parse(lastSuccess)) lastSuccess = completionTime;
  }
  for (const { uid, name } of active)
    if (missing.has(uid)) events.push(['Normal', 'MissingJob', `Active job went missing: ${name}`]);
  const left = active.filter(({ uid }) => !ended.has(uid));
  const status = {
    ...rest,
    ...(left.length === 0 ? {} : { active: left }),
    ...(lastSuccess === undefined ? {} : { lastSuccessfulTime: lastSuccess }),
  };
  return { status, events };
}

function hasZone({ spec: { timeZone } }: CronJob, events: CronJobEvent[]): boolean {
  try {
    if (timeZone !== undefined) new WallClock(timeZone);
    return true;
  } catch {
    const quoted = JSON.stringify(timeZone);
    events.push(['Warning', 'UnknownTimeZone', `invalid timeZone: ${quoted}: unknown time zone ${timeZone}`]);
    return false;
  }
}

function scheduleOf({ spec: { schedule, timeZone } }: CronJob, events: CronJobEvent[]): Schedule | undefined {
  const quoted = JSON.stringify(schedule);
  const page = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/';
  const unsupported = `CRON_TZ or TZ used in schedule ${quoted} is not officially supported, see ${page} for more details`;
  if (schedule.includes('TZ')) events.push(['Warning', 'UnsupportedSchedule', unsupported]);
  try {
    return parseSchedule(schedule, timeZone);
  } catch (error) {
    events.push(['Warning', 'UnparseableSchedule', `unparseable schedule: ${quoted} : ${errorMessage(error)}`]);
    return undefined;
  }
}

type Moment = { nowMs: number; events: CronJobEvent[] };

function timesOf(
  cronJob: CronJob,
  schedule: Schedule,
  { beginMs, nowMs, events }: Moment & Pick<CronJobState, 'beginMs'>,
): MissedTimes | undefined {
  try {
    const times = missedTimes(cronJob, schedule, { beginMs, nowMs, respectsDeadline: true });
    const tooMany = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    if (times.areMany) events.push(['Warning', 'TooManyMissedTimes', tooMany]);
    return times;
  } catch (error) {
    if (!(error instanceof InvalidScheduleError)) throw error;
    events.push(['Warning', 'InvalidSchedule', `invalid schedule: ${cronJob.spec.schedule} : ${error.message}`]);
    return undefined;
  }
}

/**
 * Whether to start a Job for this scheduled time: it is not too late, no Job was started for it, and the concurrency policy allows another
 * one.
 */
function mayStart(cronJob: CronJob, startForMs: number, { nowMs, events }: Moment): boolean {
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec;
  const { active = [], lastScheduleTime = '' } = cronJob.status ?? {};
  if (startingDeadlineSeconds !== undefined && startForMs + startingDeadlineSeconds * 1000 < nowMs) {
    const time = new Date(startForMs).toUTCString().replace('GMT', '+0000');
    events.push(['Warning', 'MissSchedule', `Missed scheduled time to start a job: ${time}`]);
    return false;
  }
  const name = jobName(cronJob, startForMs);
  if (active.some((one) => one.name === name) || Date.parse(lastScheduleTime) === startForMs) return false;
  if (concurrencyPolicy !== 'Forbid' || active.length === 0) return true;
  const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
  events.push(['Normal', 'JobAlreadyActive', message]);
  return false;
}

/** Returns the finished Jobs to delete: the oldest ones beyond the CronJob's history limits. */
export function jobsBeyondHistory({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const beyond = (type: string, limit: number | undefined) => {
    const finished = jobs.filter(
      (job) => finishedCondition(job)?.type === type && job.metadata.deletionTimestamp === undefined,
    );
    return limit === undefined ? [] : finished.toSorted(byStart).slice(0, Math.max(0, finished.length - limit));
  };
  return [...beyond('Complete', spec.successfulJobsHistoryLimit), ...beyond('Failed', spec.failedJobsHistoryLimit)];
}

/** Compares Jobs by start time, then by name. Jobs that have not started come last. */
function byStart(a: Job, b: Job): number {
  const start = ({ status }: Job) => Date.parse(status?.startTime ?? '') || Number.MAX_SAFE_INTEGER;
  return start(a) - start(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
}
