import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEndless, isWorkload, type Workload, workloadState } from './workload-state.ts';

/** Checks `isComplete`, `isOver` and the failure message of a workload at generation 2. */
function check(kind: string, { spec, status }: Pick<Workload, 'spec' | 'status'>, expected: string) {
  const { isComplete, isOver, failure } = workloadState({ kind, metadata: { generation: 2 }, spec, status });
  const words = [isComplete && 'complete', isOver && 'over', failure].filter(Boolean).join(', ');
  assert.equal(words, expected, `${kind} ${JSON.stringify(status)}`);
}

test('a Deployment is complete once all pods of the new revision are available and no others are left', () => {
  const spec = { replicas: 2 };
  const done = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
  check('Deployment', { spec, status: done }, 'complete');
  check('Deployment', { spec, status: { ...done, observedGeneration: 1 } }, '');
  check('Deployment', { spec, status: { ...done, availableReplicas: 1 } }, '');
  check('Deployment', { spec, status: { ...done, updatedReplicas: 1 } }, '');
  check('Deployment', { spec, status: { ...done, replicas: 3 } }, '');
  check('Deployment', { spec }, '');
});

test('conditions explain why a Deployment is stuck', () => {
  const late = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'm' };
  check('Deployment', { status: { observedGeneration: 2, conditions: [late] } }, 'ProgressDeadlineExceeded: m');
  const refused = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' };
  check('ReplicaSet', { status: { observedGeneration: 2, conditions: [refused] } }, 'FailedCreate: quota');
});

test('StatefulSets and DaemonSets are complete by their own counts', () => {
  const set = { observedGeneration: 2, updatedReplicas: 1, availableReplicas: 1 };
  check('StatefulSet', { spec: { replicas: 1 }, status: set }, 'complete');
  check('StatefulSet', { spec: { replicas: 2 }, status: set }, '');
  const daemons = { observedGeneration: 2, desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 };
  check('DaemonSet', { status: daemons }, 'complete');
  check('DaemonSet', { status: { ...daemons, numberAvailable: 0 } }, '');
});

test('a Job is finished once complete or failed, and a CronJob never', () => {
  check('Job', { status: { active: 1, ready: 0 } }, '');
  check('Job', { status: { active: 1, ready: 1 } }, 'complete');
  check('Job', { status: { conditions: [{ type: 'Complete', status: 'True' }] } }, 'complete, over');
  const failed = { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' };
  check('Job', { status: { conditions: [failed] } }, 'complete, over, BackoffLimitExceeded');
  check('Job', { spec: { suspend: true } }, 'complete');
  assert.match(workloadState({ kind: 'Job', metadata: {}, spec: { suspend: true } }).progress, /^suspended/);
  check('CronJob', {}, 'complete');
});

test('of the kinds that create pods, only Jobs finish', () => {
  assert.deepEqual(
    ['Job', 'Deployment', 'Service'].map((kind) => [isWorkload({ kind }), isEndless({ kind })]),
    [
      [true, false],
      [true, true],
      [false, false],
    ],
  );
});
