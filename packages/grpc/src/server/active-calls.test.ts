import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { type ActiveCall, ActiveCalls } from './active-calls.ts';

/** Begins a call in `calls`, and returns it with a function that closes its stream, as a disconnecting client would. */
function begin(calls: ActiveCalls, { streaming = false, timeoutMs = Number.POSITIVE_INFINITY } = {}) {
  const stream = new EventEmitter();
  const onClosed = (listener: () => void) => void stream.once('close', listener);
  return { active: calls.begin({ timeoutMs, onClosed }, { streaming }), leave: () => void stream.emit('close') };
}

const never = () => new Promise<never>(() => undefined);
const isLost = (active: ActiveCall, code: string) => assert.rejects(active.race(never()), { code });

test('a call ends when its client disconnects, whether or not its signal has been used before', async () => {
  const { active, leave } = begin(new ActiveCalls());
  const early = begin(new ActiveCalls());
  const { signal } = early.active;
  const races = [active.race(never()), early.active.race(never())];
  leave();
  early.leave();
  for (const race of races) await assert.rejects(race, { code: 'cancelled' });
  assert.ok(signal.aborted);
  assert.ok(active.signal.aborted);
  assert.equal((active.signal.reason as PodwrightError).code, 'cancelled');
  await isLost(active, 'cancelled');
  const late = begin(new ActiveCalls(), { timeoutMs: 150 });
  late.leave();
  await isLost(late.active, 'deadline_exceeded');
});

test('an answered call is never aborted', async () => {
  const calls = new ActiveCalls();
  const { active, leave } = begin(calls);
  assert.equal(await active.race(Promise.resolve(7)), 7);
  active.end();
  leave();
  calls.abort('all', new PodwrightError('unavailable', 'the server is closing'));
  assert.equal(active.signal.aborted, false);
});

test('a closing server aborts its streams first, then all calls', async () => {
  const calls = new ActiveCalls();
  const unary = begin(calls).active;
  const stream = begin(calls, { streaming: true }).active;
  calls.abort('streams', new PodwrightError('unavailable', 'the server is closing'));
  assert.deepEqual([unary.signal.aborted, stream.signal.aborted], [false, true]);
  calls.abort('all', new PodwrightError('unavailable', 'the server is closing'));
  await isLost(unary, 'unavailable');
});
