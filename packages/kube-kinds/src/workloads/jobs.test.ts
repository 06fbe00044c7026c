import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api-object.ts';
import { objectAt, valueAt } from '../values.ts';
import { countIndexes, overlapProblem } from './index-intervals.ts';
import {
  created,
  createErrors,
  set,
  strategyOf,
  type TestObject,
  updateErrors,
  updateSubresource,
} from './strategy-checks.fixture.ts';

const UID = 'b1946ac9-2d1f-4c3a-9d1e-6b1d2c3e4f50';
const JOB: TestObject = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'pi', namespace: 'default', uid: UID },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'pi', image: 'perl' }] } } },
};
const RESOURCE = 'jobs.batch';
const job = (changes: Record<string, unknown> = {}): ApiObject => created(RESOURCE, set(JOB, changes));
const change = (changes: Record<string, unknown>) => (object: ApiObject) => set(object, changes);

test('a new Job gets a generated selector, labels and upstream’s defaults', () => {
  const { template, ...spec } = job().spec as Record<string, unknown>;
  assert.deepEqual(spec, {
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': UID } },
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    manualSelector: false,
  });
  assert.deepEqual(valueAt(template, 'metadata', 'labels'), {
    'batch.kubernetes.io/controller-uid': UID,
    'batch.kubernetes.io/job-name': 'pi',
    'controller-uid': UID,
    'job-name': 'pi',
  });
  assert.deepEqual(job().status, {});
});

test('a Job without labels gets those of its template', () => {
  const { metadata, spec } = job({ 'spec.template.metadata.labels': { app: 'pi' } });
  assert.deepEqual(metadata.labels, objectAt(spec, 'template', 'metadata', 'labels'));
  assert.equal(metadata.labels?.['job-name'], 'pi');
  const own = job({ 'metadata.labels': { own: 'yes' }, 'spec.template.metadata.labels': { app: 'pi' } });
  assert.deepEqual(own.metadata.labels, { own: 'yes' });
});

const TABLE: readonly (readonly [name: string, changes: Record<string, unknown>, errors: readonly string[]])[] = [
  ['a valid Job', {}, []],
  [
    'pods that are always restarted',
    { 'spec.template.spec.restartPolicy': 'Always' },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    'an own selector',
    { 'spec.selector': { matchLabels: { a: 'b' } } },
    [
      'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"b1946ac9-2d1f-4c3a-9d1e-6b1d2c3e4f50"}}: `selector` not auto-generated',
      `spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"${UID}","batch.kubernetes.io/job-name":"pi","controller-uid":"${UID}","job-name":"pi"}: \`selector\` does not match template \`labels\``,
    ],
  ],
  [
    'a manual selector that is absent',
    { 'spec.manualSelector': true },
    [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    ],
  ],
  [
    'a wrong label',
    { 'spec.template.metadata.labels': { 'job-name': 'x' }, 'metadata.labels': { a: 'b' } },
    [
      `spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"${UID}","batch.kubernetes.io/job-name":"pi","controller-uid":"${UID}","job-name":"x"}: must be 'pi'`,
    ],
  ],
  [
    'negative numbers',
    { 'spec.parallelism': -1, 'spec.completions': -1, 'spec.backoffLimit': -1, 'spec.ttlSecondsAfterFinished': -1 },
    ['parallelism', 'completions', 'backoffLimit', 'ttlSecondsAfterFinished'].map(
      (name) => `spec.${name}: Invalid value: -1: must be greater than or equal to 0`,
    ),
  ],
  [
    'an unknown completion mode',
    { 'spec.completionMode': 'x' },
    ['spec.completionMode: Unsupported value: "x": supported values: "NonIndexed", "Indexed"'],
  ],
  [
    'an Indexed Job without completions',
    { 'spec.completionMode': 'Indexed', 'spec.parallelism': 100_001 },
    [
      'spec.completions: Required value: when completion mode is Indexed',
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ],
  ],
  [
    'limits of indexes without an index',
    { 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': 1 },
    [
      'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
      'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    ],
  ],
  [
    'a controller without a domain',
    { 'spec.managedBy': 'me' },
    ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    'a failure policy',
    {
      'spec.podFailurePolicy': {
        rules: [
          { action: 'x', onExitCodes: { operator: 'In', values: [0, 2, 1, 1], containerName: 'y' } },
          { action: 'FailIndex', onPodConditions: [{ type: 'A B' }] },
          { action: 'Count' },
        ],
      },
      'spec.template.spec.restartPolicy': 'OnFailure',
    },
    [
      'spec.podFailurePolicy.rules[0].action: Unsupported value: "x": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
      'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "y": must be one of the container or initContainer names in the pod template',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[3]: Duplicate value: 1',
      'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [0,2,1,1]: must be ordered',
      'spec.podFailurePolicy.rules[1].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
      `spec.podFailurePolicy.rules[1].onPodConditions[0].type: Invalid value: "A B": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      'spec.podFailurePolicy.rules[2]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
      'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
    ],
  ],
  [
    'a success policy',
    {
      'spec.completionMode': 'Indexed',
      'spec.completions': 5,
      'spec.successPolicy': {
        rules: [{}, { succeededIndexes: '1-9' }, { succeededCount: 6 }, { succeededIndexes: '0,2', succeededCount: 3 }],
      },
    },
    [
      'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
      'spec.successPolicy.rules[1].succeededIndexes: Invalid value: "1-9": error parsing succeededIndexes: too large index: "9"',
      'spec.successPolicy.rules[2].succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of specified completions)',
      'spec.successPolicy.rules[3].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
    ],
  ],
];

for (const [name, changes, errors] of TABLE)
  test(`a Job's errors are upstream's: ${name}`, () => {
    assert.deepEqual(createErrors(RESOURCE, set(JOB, changes)), errors);
  });

test('a Job’s template, selector and completion mode are immutable', () => {
  const old = job();
  assert.deepEqual(updateErrors(RESOURCE, old, change({ 'spec.parallelism': 5, 'spec.suspend': true })), []);
  assert.deepEqual(updateErrors(RESOURCE, old, change({ 'spec.completions': 5 })), [
    'spec.completions: Invalid value: 5: field is immutable',
  ]);
  const [error = ''] = updateErrors(RESOURCE, old, change({ 'spec.template.spec.containers.0.image': 'x' }));
  assert.match(error, /^spec\.template: Invalid value: .*: field is immutable$/);
  assert.deepEqual(updateErrors(RESOURCE, old, change({ 'spec.completionMode': 'Indexed' })), [
    'spec.completionMode: Invalid value: "Indexed": field is immutable',
  ]);
});

test('an Indexed Job’s completions can change only together with its parallelism', () => {
  const old = job({ 'spec.completionMode': 'Indexed', 'spec.completions': 3, 'spec.parallelism': 3 });
  assert.deepEqual(updateErrors(RESOURCE, old, change({ 'spec.completions': 5, 'spec.parallelism': 5 })), []);
  assert.deepEqual(updateErrors(RESOURCE, old, change({ 'spec.completions': 5 })), [
    'spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism',
  ]);
});

test('a suspended Job that has not started may change its scheduling directives and resources', () => {
  const directives = {
    'spec.template.spec.nodeSelector': { a: 'b' },
    'spec.template.spec.containers.0.resources': { requests: { cpu: '1' } },
    'spec.template.metadata.annotations': { a: 'b' },
    'spec.template.spec.affinity': { nodeAffinity: {} },
  };
  const suspended = job({ 'spec.suspend': true });
  assert.deepEqual(updateErrors(RESOURCE, suspended, change(directives)), []);
  assert.match(
    updateErrors(RESOURCE, suspended, change({ 'spec.template.spec.containers.0.image': 'x' })).join(),
    /^spec\.template\.spec: Invalid value: .*: field is immutable$/,
  );
  const started = set(suspended, { 'status.startTime': '2026-01-01T00:00:00Z' });
  assert.match(updateErrors(RESOURCE, started, change(directives)).join(), /^spec\.template: Invalid value/);
  const paused = set(started, { 'status.conditions': [{ type: 'Suspended', status: 'True' }] });
  assert.deepEqual(updateErrors(RESOURCE, paused, change(directives)), []);
});

const START = '2026-01-01T00:00:00Z';
const complete = [
  { type: 'SuccessCriteriaMet', status: 'True' },
  { type: 'Complete', status: 'True' },
];

const STATUSES: readonly (readonly [name: string, status: Record<string, unknown>, errors: readonly string[]])[] = [
  ['running pods', { active: 2, ready: 1, startTime: START }, []],
  ['completion', { conditions: complete, startTime: START, completionTime: START, succeeded: 1 }, []],
  [
    'completion without times',
    { conditions: complete, active: 1 },
    [
      'status.completionTime: Required value: completionTime is required for Complete jobs',
      'status.active: Invalid value: 1: active>0 is invalid for finished job',
      'status.startTime: Required value: startTime is required for finished job',
    ],
  ],
  [
    'a failure without its target',
    { conditions: [{ type: 'Failed', status: 'True' }], startTime: START },
    ['status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition'],
  ],
  [
    'more ready than active pods',
    { ready: 1 },
    ['status.ready: Invalid value: 1: cannot set more ready pods than active'],
  ],
  [
    'a time of completion before the start',
    { conditions: complete, startTime: START, completionTime: '2025-01-01T00:00:00Z' },
    ['status.completionTime: Invalid value: "2025-01-01T00:00:00Z": must be equal to or after `startTime`'],
  ],
  [
    'pods that are counted twice',
    { uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } },
    [
      'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
      'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
    ],
  ],
  [
    'completed indexes',
    { completedIndexes: '0' },
    [
      'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
    ],
  ],
];

for (const [name, status, errors] of STATUSES)
  test(`a Job's status is validated as by upstream: ${name}`, () => {
    const update = updateSubresource({ resource: RESOURCE, name: 'status' }, job(), change({ status }));
    assert.deepEqual(update.errors, errors);
  });

test('a Job’s terminal conditions and counters cannot be reverted', () => {
  const old = set(job(), {
    status: { conditions: complete, startTime: START, completionTime: START, succeeded: 1, failed: 1 },
  });
  const { errors } = updateSubresource(
    { resource: RESOURCE, name: 'status' },
    old,
    change({ status: { startTime: START } }),
  );
  assert.deepEqual(errors, [
    'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
    'status.failed: Invalid value: 0: cannot decrease the failed counter',
    'status.succeeded: Invalid value: 0: cannot decrease the succeeded counter',
    'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
  ]);
});

test('index strings are counted, and invalid ones have upstream’s errors', () => {
  const rows: [string, number | string][] = [
    ['', 0],
    ['1', 1],
    ['1-3,5', 4],
    ['1,1', 'non-increasing order, previous: 1, current: 1'],
    ['3-1', 'non-increasing order, previous: 3, current: 1'],
    [
      '1-2-3',
      `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
    ],
    ['a', 'cannot convert string to integer for index: "a"'],
    ['1-', 'cannot convert string to integer for index: ""'],
    ['6', 'too large index: "6"'],
  ];
  for (const [text, expected] of rows) assert.equal(countIndexes(text, 6), expected, text);
  assert.equal(overlapProblem('1,3-5', '2,4', 9), 'failedIndexes and completedIndexes overlap at index: 4');
  assert.equal(overlapProblem('1,3-5', '2,6', 9), undefined);
});

test('Jobs can be selected by their number of successful pods', () => {
  assert.equal(
    strategyOf(RESOURCE).selectableFields?.['status.successful']?.(set(job(), { 'status.succeeded': 2 })),
    '2',
  );
});
