import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueAt } from '../values.ts';
import { scheduleProblem } from './cron-schedule.ts';
import { created, createErrors, set, strategyOf, type TestObject, updateErrors } from './strategy-checks.fixture.ts';

const CRON_JOB: TestObject = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'pi', namespace: 'default' },
  spec: {
    schedule: '*/5 * * * *',
    jobTemplate: {
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'pi', image: 'perl' }] } } },
    },
  },
};
const RESOURCE = 'cronjobs.batch';

/** Schedules and the errors that robfig/cron reports for them. */
const SCHEDULES: readonly (readonly [schedule: string, problem: string | undefined])[] = [
  ['* * * * *', undefined],
  ['*/15 0-5 1,15 JAN-mar Mon-FRI', undefined],
  ['0 0 ? * 0', undefined],
  ['5/10 * * * *', undefined],
  ['@hourly', undefined],
  ['@every 1h30m', undefined],
  ['TZ=UTC 0 0 * * *', undefined],
  ['CRON_TZ=Europe/Rome 0 0 * * *', undefined],
  ['', 'empty spec string'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['0 0 0 * * *', 'expected exactly 5 fields, found 6: [0 0 0 * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
  ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['* * * feb-x *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['@never', 'unrecognized descriptor: @never'],
  ['@every x', 'failed to parse duration x: time: invalid duration "x"'],
  ['TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
  ['TZ=Mars/Base 0 0 * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
];

for (const [schedule, problem] of SCHEDULES)
  test(`the schedule "${schedule}" has ${problem === undefined ? 'no problem' : `the problem "${problem}"`}`, () => {
    assert.equal(scheduleProblem(schedule), problem);
  });

test('a CronJob gets upstream’s defaults', () => {
  const { jobTemplate, ...spec } = created(RESOURCE, CRON_JOB).spec as Record<string, unknown>;
  assert.deepEqual(spec, {
    schedule: '*/5 * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  // the Job template is not defaulted, because a Job gets its defaults when it is created
  assert.equal(valueAt(jobTemplate, 'spec', 'completions'), undefined);
  assert.equal(valueAt(jobTemplate, 'spec', 'template', 'spec', 'dnsPolicy'), 'ClusterFirst');
});

const ZONE = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';

const TABLE: readonly (readonly [name: string, changes: Record<string, unknown>, errors: readonly string[]])[] = [
  ['a valid CronJob', { 'spec.timeZone': 'Europe/Rome' }, []],
  ['no schedule', { 'spec.schedule': '' }, ['spec.schedule: Required value']],
  [
    'a zone in the schedule',
    { 'spec.schedule': 'TZ=UTC 0 0 * * *' },
    [
      'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  [
    'an empty zone',
    { 'spec.timeZone': '' },
    ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
  ],
  [
    'an unknown zone',
    { 'spec.timeZone': 'Mars/Base' },
    ['spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'],
  ],
  ['a zone with steps', { 'spec.timeZone': '../x' }, ['spec.timeZone: Invalid value: "../x": unknown time zone ../x']],
  ['the local zone', { 'spec.timeZone': 'Local' }, [`spec.timeZone: Invalid value: "Local": ${ZONE}`]],
  [
    'an unknown policy',
    { 'spec.concurrencyPolicy': 'x' },
    ['spec.concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"'],
  ],
  [
    'a selector of its Jobs',
    { 'spec.jobTemplate.spec.selector': { matchLabels: { a: 'b' } }, 'spec.jobTemplate.spec.manualSelector': true },
    [
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ],
  ],
  [
    'pods that are always restarted',
    { 'spec.jobTemplate.spec.template.spec.restartPolicy': '' },
    ['spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    'a long name',
    { 'metadata.name': 'a'.repeat(53) },
    [`metadata.name: Invalid value: "${'a'.repeat(53)}": must be no more than 52 characters`],
  ],
];

for (const [name, changes, errors] of TABLE)
  test(`a CronJob's errors are upstream's: ${name}`, () => {
    assert.deepEqual(createErrors(RESOURCE, set(CRON_JOB, changes)), errors);
  });

test('an existing CronJob may keep a time zone in its schedule, with a warning', () => {
  const old = set(created(RESOURCE, CRON_JOB), { 'spec.schedule': 'TZ=UTC 0 0 * * *' });
  assert.deepEqual(
    updateErrors(RESOURCE, old, (object) => set(object, { 'spec.suspend': true })),
    [],
  );
  assert.deepEqual(
    updateErrors(RESOURCE, old, (object) => set(object, { 'spec.timeZone': 'UTC' })),
    ['spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule'],
  );
  assert.deepEqual(strategyOf(RESOURCE).warnings?.(old, old), [
    'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
  ]);
});
