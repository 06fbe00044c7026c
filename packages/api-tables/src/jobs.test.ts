import { test } from 'node:test';
import { ago, checkRow, DAY } from './row-checks.fixture.ts';

const condition = (type: string, status = 'True') => ({ type, status });

test('a job’s status is its most significant condition', () => {
  const check = (conditions: string[], Status: string, deleted = false) =>
    checkRow(
      'Job.batch',
      {
        metadata: deleted ? { deletionTimestamp: ago(1) } : {},
        spec: {},
        status: { conditions: conditions.map((type) => condition(type)) },
      },
      { Status, Completions: '0/1', Duration: '' },
    );
  check([], 'Running');
  for (const type of ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet']) check([type], type);
  check(['SuccessCriteriaMet', 'Complete'], 'Complete');
  check(['FailureTarget', 'Failed'], 'Failed');
  check(['SuccessCriteriaMet', 'FailureTarget'], 'FailureTarget');
  check(['Suspended'], 'Terminating', true);
  check(['FailureTarget'], 'Terminating', true);
  check(['Complete'], 'Complete', true);
  checkRow('Job.batch', { spec: {}, status: { conditions: [condition('Complete', 'False')] } }, { Status: 'Running' });
});

test('completions are succeeded pods out of desired pods', () => {
  const check = (spec: object, succeeded: number | undefined, Completions: string) =>
    checkRow('Job.batch', { spec, status: { succeeded } }, { Completions });
  check({ completions: 2 }, 1, '1/2');
  check({ completions: 0 }, undefined, '0/0');
  check({}, 0, '0/1');
  check({ parallelism: 1 }, 1, '1/1');
  check({ parallelism: 3 }, 2, '2/1 of 3');
});

test("a job's duration ends with its completion", () => {
  const check = (status: object, Duration: string) => checkRow('Job.batch', { spec: {}, status }, { Duration });
  check({}, '');
  check({ startTime: ago(-60), completionTime: ago(-31 * 60) }, '30m');
  check({ startTime: ago(20 * 60) }, '20m');
});

test('wide rows of jobs show the containers and the selector', () => {
  const containers = ['a', 'b'].map((name) => ({ name, image: `image-${name}` }));
  const spec = { template: { spec: { containers } }, selector: { matchLabels: { job: 'x' } } };
  checkRow('Job.batch', { spec }, { Containers: 'a,b', Images: 'image-a,image-b', Selector: 'job=x' });
  checkRow('Job.batch', { spec: {} }, { Containers: '', Images: '', Selector: '<none>' });
});

test('cron jobs show their schedule and last start', () => {
  const containers = [{ name: 'a', image: 'i' }];
  const jobTemplate = { spec: { template: { spec: { containers } }, selector: { matchLabels: { a: 'b' } } } };
  checkRow(
    'CronJob.batch',
    {
      metadata: { name: 'c', creationTimestamp: ago(300) },
      spec: { schedule: '0/5 * * * ?', suspend: false, timeZone: 'Europe/Berlin', jobTemplate },
      status: { lastScheduleTime: ago(30 * DAY), active: [{}, {}] },
    },
    {
      ...{ Name: 'c', Schedule: '0/5 * * * ?', Timezone: 'Europe/Berlin', Suspend: 'False', Active: 2 },
      ...{ 'Last Schedule': '30d', Age: '5m', Containers: 'a', Images: 'i', Selector: 'a=b' },
    },
  );
  checkRow(
    'CronJob.batch',
    { spec: { schedule: '@daily', suspend: true } },
    { Timezone: '<none>', Suspend: 'True', Active: 0, 'Last Schedule': '<none>', Containers: '', Selector: '<none>' },
  );
  checkRow('CronJob.batch', { spec: { schedule: '@daily' } }, { Suspend: '<unset>' });
});
