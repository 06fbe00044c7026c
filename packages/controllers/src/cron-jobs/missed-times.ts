/** Finds scheduled times that have passed without a Job (upstream's pkg/controller/cronjob/utils.go). */
import type { CronJob } from '../objects/cron-job.ts';
import type { Schedule } from './schedule.ts';

/** If a CronJob has missed more scheduled times than this, an event reports it. */
const MANY = 100;
/** Delay after a scheduled time before the Job is started, in case the machines' clocks differ. */
const PADDING_MS = 100;

export type MissedTimes = {
  /** The most recent scheduled time that has passed; absent if there is none. */
  lastMs?: number;
  /**
   * Whether more than `MANY` scheduled times have passed, estimated from the interval between the first two. This can mean that a clock is
   * wrong.
   */
  areMany: boolean;
};

/** Thrown if the schedule never fires, as with February 31. */
export class InvalidScheduleError extends Error {}

/**
 * Which scheduled times count as missed. `beginMs`: earlier times do not. `respectsDeadline`: times before the starting deadline do not
 * either.
 */
type MissedInput = { nowMs: number; beginMs: number; respectsDeadline: boolean };

/** Returns the scheduled times that have passed since the last handled one. Throws `InvalidScheduleError`. */
export function missedTimes(
  { metadata, spec, status }: CronJob,
  schedule: Schedule,
  { nowMs, beginMs, respectsDeadline }: MissedInput,
): MissedTimes & { sinceMs: number } {
  const lastMs = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '') || nowMs;
  // a handled time in the future means that the system time was set back; upstream starts no Job until that time comes again
  const handledMs = Math.max(lastMs > nowMs ? 0 : lastMs, beginMs);
  const { startingDeadlineSeconds } = spec;
  const hasDeadline = respectsDeadline && startingDeadlineSeconds !== undefined;
  const sinceMs = hasDeadline ? Math.max(handledMs, nowMs - startingDeadlineSeconds * 1000) : handledMs;
  const first = schedule.next(sinceMs);
  if (first === undefined)
    throw new InvalidScheduleError('time difference between two schedules is less than 1 second');
  if (nowMs < first) return { sinceMs, areMany: false };
  const second = schedule.next(first);
  if (second === undefined || nowMs < second) return { sinceMs, lastMs: first, areMany: false };
  const estimate = Math.floor((nowMs - first) / (second - first)) + 1;
  // upstream searches only from the estimated last time, so it finds nothing if the schedule's intervals differ much
  return { sinceMs, areMany: estimate > MANY, lastMs: schedule.last(first, nowMs) ?? second };
}

/** Returns the time until the next scheduled time, in milliseconds. */
export function untilNextMs(
  cronJob: CronJob,
  schedule: Schedule,
  { nowMs, beginMs }: Omit<MissedInput, 'respectsDeadline'>,
): number | undefined {
  const next = schedule.next(lastKnownMs(cronJob, schedule, { nowMs, beginMs, respectsDeadline: false }));
  return next === undefined ? undefined : Math.max(0, next + PADDING_MS - nowMs);
}

function lastKnownMs(cronJob: CronJob, schedule: Schedule, input: MissedInput): number {
  try {
    const { lastMs, sinceMs } = missedTimes(cronJob, schedule, input);
    return lastMs ?? sinceMs;
  } catch (error) {
    if (error instanceof InvalidScheduleError) return input.nowMs;
    throw error;
  }
}
