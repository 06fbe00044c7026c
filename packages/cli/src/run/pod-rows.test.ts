import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kubelet';
import { ended, podOf, RUNNING, status } from './pod.fixture.ts';
import { containerRows, firstLine, podStatusReason } from './pod-rows.ts';

test("a pod's status is the one that kubectl prints", () => {
  const check = (pod: Pod, expected: string) => assert.equal(podStatusReason(pod), expected);
  const up = status('a', RUNNING, { ready: true });
  check(podOf({ containers: [up], ready: true }), 'Running');
  check(podOf({ containers: [status('b', ended(0)), up] }), 'NotReady');
  check(podOf({ containers: [up, status('b', ended(0))] }), 'NotReady');
  check(podOf({ containers: [up, status('b', ended(0))], ready: true }), 'Running');
  check(podOf({ containers: [status('a', RUNNING), status('b', ended(0))] }), 'Completed');
  check(podOf({ containers: [up, status('b', ended(3))] }), 'Error');
  check(podOf({ containers: [status('b', ended(0))], phase: 'Succeeded' }), 'Completed');
  check(podOf({ containers: [status('b', { waiting: { reason: 'CrashLoopBackOff' } }), up] }), 'CrashLoopBackOff');
  check(podOf({ containers: [status('a', {})], phase: 'Failed', reason: 'NodeAffinity' }), 'NodeAffinity');
  check(podOf({ containers: [status('a', {})], init: [status('i', ended(2))], phase: 'Pending' }), 'Init:Error');
});

test('messages are shown on one line, and long IDs as their start', () => {
  assert.equal(
    firstLine(`failed to start ${'0123456789ab'.repeat(5)}cdef: no\nmore`),
    'failed to start 0123456789ab: no',
  );
  assert.equal(firstLine(`image sha256:${'f'.repeat(64)}`), `image sha256:${'f'.repeat(12)}`);
  const backOff = 'back-off 10s restarting failed container=main pod=web_default(f3957396-4104-405a-8afd-435ddef761e0)';
  assert.equal(firstLine(backOff), 'back-off 10s restarting failed container=main');
  const waiting = { waiting: { reason: 'RunContainerError', message: `container ${'a'.repeat(64)}` } };
  assert.equal(
    containerRows(podOf({ containers: [status('a', waiting)] }))[0]!.state,
    `RunContainerError: container ${'a'.repeat(12)}`,
  );
});
