import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '@podwright/kube-api';
import type { CronJobSpec, CronJobStatus } from '../objects/cron-job.ts';
import type { Job } from '../objects/job.ts';
import { minute, newCronJob, START_MS, startedJob } from './cron-job.fixture.ts';
import { type CronJobState, decideCronJob, jobName, jobsBeyondHistory } from './decide-cron-job.ts';

type Given = {
  spec?: Partial<CronJobSpec>;
  status?: CronJobStatus;
  jobs?: Job[];
  missing?: string[];
  /** `at`: the minute of the decision. `begin`: the minute before which schedule times are ignored. */
  at: number;
  begin?: number;
};

function decide({ spec, status, jobs = [], missing = [], at, begin }: Given) {
  const cronJob = newCronJob(spec, status);
  const beginMs = begin === undefined ? 0 : minute(begin);
  const state: CronJobState = { cronJob, jobs, missing: new Set(missing), beginMs, nowMs: minute(at) };
  return decideCronJob(state);
}

/** Checks the scheduled minute of the Job to start, the seconds until the next decision, and the event reasons. */
function check(given: Given, expected: { start?: number; again?: number; events?: string[] }) {
  const { startForMs, againInMs, events } = decide(given);
  assert.deepEqual(
    {
      start: startForMs === undefined ? undefined : (startForMs - START_MS) / 60_000,
      again: againInMs === undefined ? undefined : Math.floor(againInMs / 1000),
      events: events.map(([, reason]) => reason),
    },
    { start: expected.start, again: expected.again, events: expected.events ?? [] },
  );
}

const active = (...names: string[]) => names.map((name) => ({ name, uid: `uid-${name}` }));
const last = (at: number): CronJobStatus => ({ lastScheduleTime: formatTime(minute(at)) });

test('a Job starts for the most recent scheduled time', () => {
  check({ at: 5 }, { again: 300 });
  check({ at: 10 }, { start: 10 });
  check({ at: 47 }, { start: 40 });
  check({ at: 12, status: last(10) }, { again: 480 });
  check({ at: 25, status: last(10) }, { start: 20 });
});

test('setting back the clock does not delay the next Job', () => {
  check({ at: 25, status: last(600), begin: 22 }, { again: 300 });
  check({ at: 30, status: last(600), begin: 22 }, { start: 30 });
  check({ at: -25, begin: -28 }, { again: 300 });
});

test('times before a schedule change start no Job', () => {
  const hourly = { schedule: '30 * * * *' };
  check({ at: 40, status: last(10), spec: hourly }, { start: 30 });
  check({ at: 40, status: last(10), spec: hourly, begin: 35 }, { again: 3000 });
  check({ at: 90, status: last(10), spec: hourly, begin: 35 }, { start: 90 });
});

test('a schedule with uneven intervals starts a Job for the last time that has passed', () => {
  const spec = { schedule: '0,59 1 * * *' };
  check({ at: 6 * 60, spec }, { start: 60 + 59 });
  check({ at: 6 * 60, status: last(60 + 59), spec }, { again: 19 * 3600 });
  check({ at: 6 * 60, spec: { ...spec, startingDeadlineSeconds: 3600 } }, { again: 19 * 3600 });
});

test('more than a hundred missed times are reported', () => {
  check({ at: 1000 }, { start: 1000 });
  check({ at: 1010 }, { start: 1010, events: ['TooManyMissedTimes'] });
  check({ at: 1010, spec: { startingDeadlineSeconds: 600 } }, { start: 1010 });
});

test('a time counts as missed after the starting deadline', () => {
  check({ at: 12, spec: { startingDeadlineSeconds: 120 } }, { again: 480 });
  check({ at: 12, spec: { startingDeadlineSeconds: 180 } }, { start: 10 });
});

test('the concurrency policy decides whether further Jobs start', () => {
  const status = { ...last(10), active: active('a') };
  const jobs = [startedJob('a')];
  const given = { at: 20, status, jobs };
  check(given, { start: 20 });
  check({ ...given, spec: { concurrencyPolicy: 'Forbid' } }, { again: 600, events: ['JobAlreadyActive'] });
  check({ ...given, spec: { concurrencyPolicy: 'Replace' } }, { start: 20 });
  assert.deepEqual(decide({ ...given, spec: { concurrencyPolicy: 'Replace' } }).replaces, status.active);
  const ended = { ...given, jobs: [startedJob('a', 'Failed')] };
  check({ ...ended, spec: { concurrencyPolicy: 'Forbid' } }, { start: 20, events: ['SawCompletedJob'] });
});

test('a Job listed in the status is not started again', () => {
  const name = jobName(newCronJob(), minute(10));
  assert.equal(name, `report-${START_MS / 60_000 + 10}`);
  check({ at: 10, status: { active: active(name) }, jobs: [startedJob(name)] }, { again: 600 });
});

test('a suspended CronJob, an unknown time zone and invalid schedules start nothing', () => {
  check({ at: 10, spec: { suspend: true } }, {});
  check({ at: 10, spec: { timeZone: 'Mars/Olympus' } }, { events: ['UnknownTimeZone'] });
  check({ at: 10, spec: { schedule: 'often' } }, { events: ['UnparseableSchedule'] });
  check({ at: 10, spec: { schedule: '0 0 31 2 *' } }, { events: ['InvalidSchedule'] });
  check(
    { at: 10, spec: { schedule: 'TZ=UTC */10 * * * *', timeZone: undefined } },
    { start: 10, events: ['UnsupportedSchedule'] },
  );
});

test('finished and missing Jobs are removed from the status', () => {
  const status = { ...last(10), active: active('a', 'b', 'c') };
  const jobs = [
    startedJob('a', 'Complete', minute(11)),
    startedJob('b'),
    startedJob('d', 'Complete', minute(9)),
    startedJob('e'),
  ];
  const { status: after, events } = decide({ at: 12, status, jobs, missing: ['uid-c'] });
  assert.deepEqual(after, { ...last(10), active: active('b'), lastSuccessfulTime: formatTime(minute(11)) });
  assert.deepEqual(events, [
    ['Normal', 'SawCompletedJob', 'Saw completed job: a, condition: Complete'],
    ['Warning', 'UnexpectedJob', 'Saw a job that the controller did not create or forgot: e'],
    ['Normal', 'MissingJob', 'Active job went missing: c'],
  ]);
});

test('the oldest finished Jobs above the history limits are deleted', () => {
  const jobs = [
    startedJob('new', 'Complete', minute(3)),
    startedJob('old', 'Complete', minute(1)),
    startedJob('failed', 'Failed', minute(2)),
    startedJob('running'),
  ];
  const names = (spec: Partial<CronJobSpec>) =>
    jobsBeyondHistory(newCronJob(spec), jobs).map(({ metadata }) => metadata.name);
  assert.deepEqual(names({}), []);
  assert.deepEqual(names({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 }), ['old']);
  assert.deepEqual(names({ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 }), ['old', 'new', 'failed']);
});
