/** Jobs and CronJobs. */
import { sleep } from '@podwright/base';
import { CRON_JOBS, JOBS } from './resources.ts';
import {
  container,
  create,
  deletePod,
  remove,
  type Scenario,
  type Step,
  setPodStatus,
  spec,
  step,
  template,
  together,
  until,
  untilRemoved,
} from './steps.ts';

type Counted = { status?: { active?: number; failed?: number } };
type Finished = { status?: { conditions?: { type: string; status: string }[] } };

const jobTemplate = (app: string, command: string, more: object = {}) =>
  template(app, { command, spec: { restartPolicy: 'Never', ...more } });
const job = (name: string, command: string, more: object = {}): Step =>
  create(JOBS, name, { spec: { template: jobTemplate(name, command), ...more } });
const finished = (name: string): Step =>
  until(JOBS, name, 'it is finished', ({ status }: Finished) =>
    (status?.conditions ?? []).some(
      ({ type, status: is }) => is === 'True' && (type === 'Complete' || type === 'Failed'),
    ),
  );
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };

const failureRules = {
  rules: [
    { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [42] } },
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'Count', onExitCodes: { operator: 'NotIn', values: [0, 42] } },
  ],
};
const disrupted = {
  phase: 'Failed',
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'Test', message: 'a disruption' }],
};

const cronJob = (name: string, command: string, more: object = {}): Step =>
  create(CRON_JOBS, name, {
    spec: {
      schedule: '* * * * *',
      jobTemplate: { metadata: { labels: { of: name } }, spec: { template: jobTemplate(name, command) } },
      ...more,
    },
  });
const scheduled = (name: string): Step =>
  until(
    CRON_JOBS,
    name,
    'it has started a Job',
    ({ status }: { status?: { lastScheduleTime?: string } }) => status?.lastScheduleTime !== undefined,
  );
/** Waits until five seconds into the next minute. */
const nextMinute = step('wait for the next minute', () => sleep(65_000 - (Date.now() % 60_000)));

/**
 * How long objects must not have changed before they are compared: longer than the second during which upstream batches changes to a Job's
 * pods.
 */
const restMs = 3000;

export const BATCH: Scenario[] = [
  {
    name: 'jobs: completions, failures',
    restMs,
    steps: [
      job('one', '0'),
      job('three', '0', { completions: 3, parallelism: 2 }),
      job('queue', '0', { parallelism: 2 }),
      job('never', '1', { backoffLimit: 0 }),
      together('create Job twice, and wait for its end', [job('twice', '1', { backoffLimit: 1 }), finished('twice')]),
      together('create Job late, and wait for its deadline', [
        job('late', 'run', { activeDeadlineSeconds: 2, parallelism: 2 }),
        finished('late'),
      ]),
      job('restarts', '0', { template: jobTemplate('restarts', '0', { restartPolicy: 'OnFailure' }) }),
      job('foreign', '0', { managedBy: 'example.com/other' }),
      job('own', '0', { manualSelector: true, selector: { matchLabels: { app: 'own' } } }),
    ],
  },
  {
    name: 'jobs: indexed',
    restMs,
    steps: [
      job('all', '0', indexed),
      job('lost', '0,1,0', { ...indexed, backoffLimitPerIndex: 0 }),
      job('few', '1,1,run', { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }),
      job('elastic', 'run', { ...indexed, completions: 2, parallelism: 2 }),
      spec(JOBS, 'elastic', { completions: 3, parallelism: 3 }),
      spec(JOBS, 'elastic', { completions: 1, parallelism: 1 }),
      job('enough', '0,run,run', { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0' }] } }),
      job('count', '0,0,run', { ...indexed, successPolicy: { rules: [{ succeededCount: 2 }] } }),
      together('create Job retry, and wait for its end', [
        job('retry', '0,1,0', { ...indexed, backoffLimitPerIndex: 1 }),
        finished('retry'),
      ]),
    ],
  },
  {
    name: 'jobs: policies, suspend, parallelism',
    restMs,
    steps: [
      job('fatal', '42', { podFailurePolicy: failureRules }),
      job('counts', '7', { podFailurePolicy: failureRules, backoffLimit: 0 }),
      job('ignores', 'run', { podFailurePolicy: failureRules, backoffLimit: 0 }),
      setPodStatus('job-name=ignores', disrupted),
      job('paused', 'run', { suspend: true, parallelism: 2 }),
      spec(JOBS, 'paused', { suspend: false }),
      spec(JOBS, 'paused', { parallelism: 3 }),
      spec(JOBS, 'paused', { parallelism: 1 }),
      spec(JOBS, 'paused', { suspend: true }),
      job('replaced', 'run', { podReplacementPolicy: 'Failed', parallelism: 2 }),
      together('delete a pod, and wait for its replacement', [
        deletePod('job-name=replaced'),
        until(
          JOBS,
          'replaced',
          'it has two pods again',
          ({ status }: Counted) => status?.failed === 1 && status.active === 2,
        ),
      ]),
      remove(JOBS, 'replaced', 'Orphan'),
      remove(JOBS, 'paused', 'Foreground'),
    ],
  },
  {
    name: 'jobs: time to live',
    restMs,
    steps: [
      together('create Job short, and wait for its deletion', [
        job('short', '0', { ttlSecondsAfterFinished: 1 }),
        untilRemoved(JOBS, 'short'),
      ]),
      together('create Job lost, and wait for its deletion', [
        job('lost', '1', { ttlSecondsAfterFinished: 1, backoffLimit: 0 }),
        untilRemoved(JOBS, 'lost'),
      ]),
      job('long', '0'),
      spec(JOBS, 'long', { ttlSecondsAfterFinished: 0 }),
      untilRemoved(JOBS, 'long'),
    ],
  },
  {
    name: 'cron jobs',
    restMs,
    steps: [
      cronJob('odd', '0', { schedule: '1 2 3 * *', timeZone: 'Europe/Berlin' }),
      cronJob('off', '0', { suspend: true }),
      cronJob('often', '0', { successfulJobsHistoryLimit: 1 }),
      cronJob('alone', 'run', { concurrencyPolicy: 'Forbid' }),
      cronJob('newest', 'run', { concurrencyPolicy: 'Replace' }),
      cronJob('sick', '1', {
        failedJobsHistoryLimit: 0,
        jobTemplate: { spec: { backoffLimit: 0, template: { ...jobTemplate('sick', '1') } } },
      }),
      scheduled('often'),
      nextMinute,
      spec(CRON_JOBS, 'often', { suspend: true }),
      remove(CRON_JOBS, 'alone', 'Foreground'),
      remove(CRON_JOBS, 'newest'),
      create(JOBS, 'manual', {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [container('v1', '0')] } } },
      }),
    ],
  },
];
