import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongRunning } from './long-running.ts';

/** Enters as many long-running requests as the limit allows this caller. Returns the values to dispose to end them. */
function enterAll(limit: LongRunning, caller: string): Disposable[] {
  const entered: Disposable[] = [];
  for (let one = limit.enter(caller); one !== undefined; one = limit.enter(caller)) entered.push(one);
  return entered;
}

test('a caller’s limit follows the current maximum, separately from other callers', () => {
  let max = 1;
  const requests = new LongRunning({ maxOfCaller: () => max });
  const [first, ...others] = enterAll(requests, 'a');
  assert.equal(others.length, 0);
  assert.equal(enterAll(requests, 'b').length, 1);
  max = 2; // as when a node joins
  assert.equal(enterAll(requests, 'a').length, 1);
  max = 1;
  first![Symbol.dispose]();
  assert.equal(requests.enter('a'), undefined);
});

test('callers always leave part of the total limit to others', () => {
  const limit = new LongRunning({ max: 100 });
  const first = enterAll(limit, 'a');
  assert.equal(first.length, 50);
  assert.deepEqual([enterAll(limit, 'b').length, enterAll(limit, 'c').length], [25, 13]);
  for (const one of first) one[Symbol.dispose]();
  assert.equal(enterAll(limit, 'd').length, 31);
});

test('a request counts as many as its weight', () => {
  const limit = new LongRunning({ maxOfCaller: () => 10 });
  const heavy = limit.enter('a', 7)!;
  assert.equal(limit.enter('a', 4), undefined);
  assert.equal(enterAll(limit, 'a').length, 3);
  heavy[Symbol.dispose]();
  assert.equal(enterAll(limit, 'a').length, 7);
});
