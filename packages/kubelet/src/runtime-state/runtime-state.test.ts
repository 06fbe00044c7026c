import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { RuntimeState } from './runtime-state.ts';

const READY = { type: 'RuntimeReady', status: true, reason: '', message: '' };
const NETWORK = { type: 'NetworkReady', status: true, reason: '', message: '' };
const NO_NETWORK = { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'no conf' };
type Conditions = (typeof READY)[];

/** A fake container runtime whose status calls return (or throw) `answer`, and a mocked clock. */
function setUp(t: TestContext, first: Conditions | Error) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1000;
  t.mock.method(performance, 'now', () => nowMs);
  const runtime = { answer: first, calls: 0 };
  const status = async () => {
    runtime.calls++;
    if (runtime.answer instanceof Error) throw runtime.answer;
    return { status: { conditions: runtime.answer } };
  };
  const recovered: number[] = [];
  const health: { problem: string | undefined } = { problem: undefined };
  const logged: string[] = [];
  const log = (level: string) => (fields: object) => void logged.push(`${level} ${Object.values(fields).join()}`);
  const state = new RuntimeState({
    cri: { runtime: { status } } as unknown as CriClient,
    logger: { ...silentLogger, info: log('info'), error: log('error') },
  });
  const start = () => state.start({ onRecovery: () => recovered.push(nowMs), healthChecks: [() => health.problem] });
  t.after(() => state.stop());
  const pass = async (milliseconds: number) => {
    nowMs += milliseconds;
    t.mock.timers.tick(milliseconds);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { state, start, runtime, recovered, health, logged, pass };
}

const away = new PodwrightError('unavailable', 'connect ENOENT');

test('a ready runtime has no errors', async (t) => {
  const { state, start, runtime, pass } = setUp(t, [READY, NETWORK]);
  assert.deepEqual(state.runtimeErrors(), ['container runtime status check may not have completed yet']);
  await start();
  assert.deepEqual([state.runtimeErrors(), state.networkError()], [[], undefined]);
  await pass(4999);
  assert.equal(runtime.calls, 1);
  await pass(1);
  assert.equal(runtime.calls, 2);
});

test('a network that is not ready is reported alone, and checked every second', async (t) => {
  const { state, start, runtime, recovered, pass } = setUp(t, [READY, NO_NETWORK]);
  await start();
  assert.deepEqual(state.runtimeErrors(), []);
  const error = 'NetworkReady=false reason:NetworkPluginNotReady message:no conf';
  assert.equal(state.networkError(), `container runtime network not ready: ${error}`);
  runtime.answer = [READY, NETWORK];
  await pass(1000);
  assert.equal(state.networkError(), undefined);
  assert.equal(recovered.length, 1);
});

test('a runtime that does not respond is down after 30 s, and its recovery is detected within a second', async (t) => {
  const { state, start, runtime, recovered, pass } = setUp(t, [READY, NETWORK]);
  await start();
  runtime.answer = away;
  await pass(5000);
  for (let second = 6; second < 30; second++) await pass(1000);
  assert.deepEqual(state.runtimeErrors(), []);
  await pass(1000);
  assert.deepEqual(state.runtimeErrors(), ['container runtime is down']);
  assert.deepEqual(recovered, []);
  runtime.answer = [READY, NETWORK];
  await pass(1000);
  assert.deepEqual(state.runtimeErrors(), []);
  assert.equal(recovered.length, 1);
});

test('a runtime that is unavailable at the start is reported as not checked yet', async (t) => {
  const { state, start, runtime, recovered, pass } = setUp(t, away);
  await start();
  assert.deepEqual(state.runtimeErrors(), ['container runtime status check may not have completed yet']);
  assert.equal(state.networkError(), 'container runtime network status is unknown');
  runtime.answer = [READY, NETWORK];
  await pass(1000);
  assert.deepEqual([state.runtimeErrors(), recovered.length], [[], 1]);
});

test('the reasons for an unready runtime and for failed health checks are reported', async (t) => {
  const { state, start, health } = setUp(t, [{ ...READY, status: false, reason: 'X', message: 'starting' }, NETWORK]);
  await start();
  health.problem = 'PLEG is not healthy: pleg has yet to be successful';
  assert.deepEqual(state.runtimeErrors().slice(1), [
    'PLEG is not healthy: pleg has yet to be successful',
    'container runtime not ready: RuntimeReady=false reason:X message:starting',
  ]);
});

test('the initial state of a kubelet is not logged as an error', async (t) => {
  const { start, health, logged, pass } = setUp(t, [READY, NETWORK]);
  health.problem = 'PLEG is not healthy: pleg has yet to be successful';
  await start();
  health.problem = 'PLEG is not healthy: pleg was last seen active 4m0s ago';
  await pass(1000);
  await pass(5000);
  assert.deepEqual(logged, [
    'info PLEG is not healthy: pleg has yet to be successful',
    'error PLEG is not healthy: pleg was last seen active 4m0s ago',
  ]);
});

test('sinceCheckMs returns the time since the last check', async (t) => {
  const { state, start, pass } = setUp(t, [READY, NETWORK]);
  await start();
  await pass(3000);
  assert.equal(state.sinceCheckMs(), 3000);
});

test('a recovery of listings between two checks triggers a check, and is reported once', async (t) => {
  const { state, start, runtime, recovered, pass } = setUp(t, [READY, NETWORK]);
  await start();
  state.noteListing(false);
  await pass(100);
  state.noteListing(true);
  await pass(0);
  assert.deepEqual([runtime.calls, recovered.length], [2, 1]);
  for (let look = 0; look < 3; look++) await pass(5000);
  assert.deepEqual([runtime.calls, recovered.length], [5, 1]);
});

test('an outage detected by both status calls and listings ends once, with the later recovery', async (t) => {
  const { state, start, runtime, recovered, pass } = setUp(t, [READY, NETWORK]);
  await start();
  state.noteListing(false);
  runtime.answer = away;
  await pass(5000);
  runtime.answer = [READY, NETWORK];
  await pass(1000);
  assert.equal(recovered.length, 0);
  state.noteListing(true);
  await pass(0);
  assert.equal(recovered.length, 1);
  await pass(5000);
  assert.equal(recovered.length, 1);
});
