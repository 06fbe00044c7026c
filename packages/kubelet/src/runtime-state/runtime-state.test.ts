import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { RuntimeState } from './runtime-state.ts';

const READY = { type: 'RuntimeReady', status: true, reason: '', message: '' };
const NETWORK = { type: 'NetworkReady', status: true, reason: '', message: '' };
const NO_NETWORK = { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'no conf' };
type Conditions = (typeof READY)[];

/** A runtime whose status is `answer`, and a clock that stands still unless told. */
function begin(t: TestContext, first: Conditions | Error) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1000;
  t.mock.method(performance, 'now', () => nowMs);
  const runtime = { answer: first, asked: 0 };
  const status = async () => {
    runtime.asked++;
    if (runtime.answer instanceof Error) throw runtime.answer;
    return { status: { conditions: runtime.answer } };
  };
  const recovered: number[] = [];
  const health: { problem: string | undefined } = { problem: undefined };
  const told: string[] = [];
  const tell = (level: string) => (facts: object) => void told.push(`${level} ${Object.values(facts).join()}`);
  const state = new RuntimeState({
    cri: { runtime: { status } } as unknown as CriClient,
    logger: { ...silentLogger, info: tell('info'), error: tell('error') },
  });
  const start = () => state.start({ onRecovery: () => recovered.push(nowMs), healthChecks: [() => health.problem] });
  t.after(() => state.stop());
  const pass = async (milliseconds: number) => {
    nowMs += milliseconds;
    t.mock.timers.tick(milliseconds);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { state, start, runtime, recovered, health, told, pass };
}

const away = new PodwrightError('unavailable', 'connect ENOENT');

test('a runtime that is ready holds no pod up', async (t) => {
  const { state, start, runtime, pass } = begin(t, [READY, NETWORK]);
  assert.deepEqual(state.runtimeErrors(), ['container runtime status check may not have completed yet']);
  await start();
  assert.deepEqual([state.runtimeErrors(), state.networkError()], [[], undefined]);
  await pass(4999);
  assert.equal(runtime.asked, 1);
  await pass(1);
  assert.equal(runtime.asked, 2);
});

test('without a network only that is said, and asked after soon, until it is there', async (t) => {
  const { state, start, runtime, recovered, pass } = begin(t, [READY, NO_NETWORK]);
  await start();
  assert.deepEqual(state.runtimeErrors(), []);
  const error = 'NetworkReady=false reason:NetworkPluginNotReady message:no conf';
  assert.equal(state.networkError(), `container runtime network not ready: ${error}`);
  runtime.answer = [READY, NETWORK];
  await pass(1000);
  assert.equal(state.networkError(), undefined);
  assert.equal(recovered.length, 1);
});

test('a runtime that does not answer is down after half a minute, and found again within a second', async (t) => {
  const { state, start, runtime, recovered, pass } = begin(t, [READY, NETWORK]);
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

test('a runtime that is away at the start was never seen', async (t) => {
  const { state, start, runtime, recovered, pass } = begin(t, away);
  await start();
  assert.deepEqual(state.runtimeErrors(), ['container runtime status check may not have completed yet']);
  assert.equal(state.networkError(), 'container runtime network status is unknown');
  runtime.answer = [READY, NETWORK];
  await pass(1000);
  assert.deepEqual([state.runtimeErrors(), recovered.length], [[], 1]);
});

test('a runtime that is there but not ready says why, and so do health checks', async (t) => {
  const { state, start, health } = begin(t, [{ ...READY, status: false, reason: 'X', message: 'starting' }, NETWORK]);
  await start();
  health.problem = 'PLEG is not healthy: pleg has yet to be successful';
  assert.deepEqual(state.runtimeErrors().slice(1), [
    'PLEG is not healthy: pleg has yet to be successful',
    'container runtime not ready: RuntimeReady=false reason:X message:starting',
  ]);
});

test('a kubelet that has only just started is no error', async (t) => {
  const { start, health, told, pass } = begin(t, [READY, NETWORK]);
  health.problem = 'PLEG is not healthy: pleg has yet to be successful';
  await start();
  health.problem = 'PLEG is not healthy: pleg was last seen active 4m0s ago';
  await pass(1000);
  await pass(5000);
  assert.deepEqual(told, [
    'info PLEG is not healthy: pleg has yet to be successful',
    'error PLEG is not healthy: pleg was last seen active 4m0s ago',
  ]);
});

test('how long ago it was asked is known', async (t) => {
  const { state, start, pass } = begin(t, [READY, NETWORK]);
  await start();
  await pass(3000);
  assert.equal(state.sinceLookMs(), 3000);
});

test('a runtime that did not list its pods for a while between two looks is asked at once, and recovers once', async (t) => {
  const { state, start, runtime, recovered, pass } = begin(t, [READY, NETWORK]);
  await start();
  state.noteListing(false);
  await pass(100);
  state.noteListing(true);
  await pass(0);
  assert.deepEqual([runtime.asked, recovered.length], [2, 1]);
  for (let look = 0; look < 3; look++) await pass(5000);
  assert.deepEqual([runtime.asked, recovered.length], [5, 1]);
});

test('a runtime that is noticed to be away and back by its status and its listings recovers once, with the later of them', async (t) => {
  const { state, start, runtime, recovered, pass } = begin(t, [READY, NETWORK]);
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
