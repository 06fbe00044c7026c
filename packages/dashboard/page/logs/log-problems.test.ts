import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/objects.ts';
import { logProblems } from './log-problems.ts';

const podOf = (containerStatuses?: object[]) => ({ status: { phase: 'Pending', containerStatuses } }) as unknown as Pod;
const containers = ['worker', 'telemetry'];
const none = { containers, states: [], hidden: new Set<number>(), isPrevious: false };
const NOT_STARTED = 'the container has not started yet';

test('containers of a pending pod have not started, whatever the server responds', () => {
  const states = ["there is no pod storefront/gallery-0; 'podwright ps' lists the pods", 'connecting'];
  assert.deepEqual(logProblems(podOf(), { ...none, states }), [
    { container: 'worker', text: NOT_STARTED, isError: false },
    { container: 'telemetry', text: NOT_STARTED, isError: false },
  ]);
  const waiting = podOf([{ name: 'worker', restartCount: 0, state: { waiting: { reason: 'ContainerCreating' } } }]);
  assert.equal(logProblems(waiting, { ...none, containers: ['worker'] })[0]!.text, NOT_STARTED);
});

test('a container that is waiting for its next run has a log', () => {
  const waiting = { waiting: { reason: 'CrashLoopBackOff' } };
  const pod = podOf([{ name: 'worker', restartCount: 1, state: waiting, lastState: { terminated: { exitCode: 1 } } }]);
  const one = { ...none, containers: ['worker'] };
  assert.deepEqual(logProblems(pod, { ...one, states: ['ended'], isPrevious: true }), []);
  assert.deepEqual(logProblems(pod, { ...one, states: ['no route to host'] }), [
    { container: 'worker', text: 'no route to host', isError: true },
  ]);
});

test('previous runs are reported only of containers that are shown, and a missing one is no error', () => {
  const running = (name: string) => ({ name, restartCount: 0, state: { running: {} }, lastState: {} });
  const pod = podOf([running('worker'), running('telemetry')]);
  const states = ['', 'find the previous log: container telemetry has not been restarted'];
  const shown = logProblems(pod, { ...none, states, isPrevious: true, hidden: new Set([0]) });
  assert.deepEqual(shown, [{ container: 'telemetry', text: 'the container has no previous run', isError: false }]);
  assert.deepEqual(logProblems(pod, { ...none, states, isPrevious: true, hidden: new Set([0, 1]) }), []);
});
