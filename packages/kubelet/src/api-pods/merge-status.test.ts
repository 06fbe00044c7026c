import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '@podwright/kube-api';
import { mergeStatus } from './merge-status.ts';

const condition = (type: string, status: 'True' | 'False') => ({ type, status }) as const;

test('a terminal phase at the API server is never reverted, even while containers run', () => {
  const theirs: PodStatus = { phase: 'Failed', reason: 'NodeLost', message: 'the node is gone' };
  const conditions = [
    condition('Ready', 'True'),
    condition('ContainersReady', 'True'),
    condition('Initialized', 'True'),
  ];
  const own: PodStatus = { phase: 'Running', podIP: '10.0.0.2', conditions };
  for (const couldRun of [true, false])
    assert.deepEqual(mergeStatus({ theirs, own, couldRun }), {
      ...{ ...theirs, podIP: '10.0.0.2' },
      conditions: [
        condition('Ready', 'False'),
        condition('ContainersReady', 'False'),
        condition('Initialized', 'True'),
      ],
    });
});

test('the mirror pod of a restarted static pod becomes Running again', () => {
  const theirs: PodStatus = { phase: 'Failed', reason: 'Terminated', message: 'gone' };
  const merged = mergeStatus({ theirs, own: { phase: 'Running' }, couldRun: true, isMirror: true });
  assert.deepEqual([merged.phase, merged.reason], ['Running', undefined]);
});

test('the reason for an end is reported only along with the terminal phase', () => {
  const why = { reason: 'DeadlineExceeded', message: 'too long' };
  const reasonOf = (phase: 'Running' | 'Failed', couldRun: boolean) =>
    mergeStatus({ theirs: { phase: 'Running' }, own: { phase, ...why }, couldRun }).reason;
  assert.deepEqual(
    [reasonOf('Running', true), reasonOf('Failed', true), reasonOf('Failed', false)],
    [undefined, undefined, 'DeadlineExceeded'],
  );
});

test('a terminal phase is reported only after all containers have stopped', () => {
  const own: PodStatus = { phase: 'Succeeded', reason: 'Done' };
  const phaseOf = (couldRun: boolean) => mergeStatus({ theirs: { phase: 'Running' }, own, couldRun }).phase;
  assert.deepEqual([phaseOf(true), phaseOf(false)], ['Running', 'Succeeded']);
});
