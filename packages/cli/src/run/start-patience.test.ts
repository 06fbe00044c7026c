import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { ended, podOf, RUNNING, status } from './pod.fixture.ts';
import { failsToStart, NotStarted, StartPatience } from './start-patience.ts';

test('a pod fails to start if its state or an event reports a failure before any container has started', () => {
  const check = (pod: ReturnType<typeof podOf>, warned: boolean, expected: boolean) =>
    assert.equal(failsToStart(pod, warned), expected);
  const creating = podOf({ containers: [status('a', { waiting: { reason: 'ContainerCreating' } })], phase: 'Pending' });
  check(creating, false, false);
  check(creating, true, true);
  const unpulled = status('a', { waiting: { reason: 'ImagePullBackOff' } });
  check(podOf({ containers: [unpulled] }), false, true);
  check(podOf({ containers: [unpulled], init: [status('i', ended(0))] }), false, false);
  check(podOf({ containers: [unpulled, status('b', RUNNING)] }), false, false);
  check(podOf({ containers: [status('a', {}, { restartCount: 1, lastState: ended(1) })] }), true, false);
  check(podOf({ containers: [unpulled], phase: 'Failed' }), true, false);
});

test('the wait ends after a given time without progress', async () => {
  let stuck = false;
  using patience = new StartPatience(() => stuck, 30, 5);
  const aborted = once(patience.signal, 'abort');
  const begunAtMs = Date.now();
  setTimeout(() => {
    stuck = true;
    patience.progress();
  }, 40);
  const alive = setInterval(() => undefined, 1000); // the patience keeps no process alive
  await aborted;
  clearInterval(alive);
  assert.ok(patience.signal.reason instanceof NotStarted);
  assert.ok(Date.now() - begunAtMs >= 65, 'it was stuck for 30 ms');
});
