import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { KeyedLock, Limiter } from './keyed-lock.ts';

test('work with the same key runs in order of arrival, even after a failure; other keys run concurrently', async () => {
  const lock = new KeyedLock();
  const order: string[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const first = lock.run('a', async () => {
    await held;
    order.push('first');
    throw new Error('no');
  });
  const second = lock.run('a', async () => order.push('second'));
  await lock.run('b', async () => order.push('other'));
  release();
  await assert.rejects(first, /no/);
  await second;
  assert.deepEqual(order, ['other', 'first', 'second']);
});

test('work aborted before its turn never runs, and does not delay later work', async () => {
  const lock = new KeyedLock();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const first = lock.run('a', () => held);
  const second = lock.run('a', () => assert.fail('it has left'), leaving.signal);
  const third = lock.run('a', async () => 'third');
  leaving.abort(new Error('left'));
  await assert.rejects(second, /left/);
  release();
  await first;
  assert.equal(await third, 'third');
});

test('a limiter never exceeds its concurrency limit', async () => {
  const limiter = new Limiter(2);
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  };
  await Promise.all([1, 2, 3, 4, 5].map(() => limiter.run(work)));
  assert.equal(most, 2);
});

test('work that exceeds a limiter’s patience does not block other work', async () => {
  const limiter = new Limiter(1, 10);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const long = limiter.run(() => held);
  assert.equal(await limiter.run(async () => 'second'), 'second');
  release();
  await long;
  let running = 0;
  const alone = async () => {
    assert.equal(++running, 1, 'work that lost its slot does not free it a second time');
    await new Promise(setImmediate);
    running--;
  };
  await Promise.all([limiter.run(alone), limiter.run(alone), limiter.run(alone)]);
});

test('work admitted beyond the limit starts at once, and its end admits no other work', async () => {
  const limiter = new Limiter(1);
  const held = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const works = held.map(({ promise }, index) =>
    limiter.run(async () => {
      begun.push(index);
      await promise;
    }),
  );
  limiter.admit(1);
  await new Promise(setImmediate);
  assert.deepEqual([begun, limiter.running, limiter.waiting], [[0, 1], 2, 2]);
  held[1]!.resolve();
  await works[1];
  assert.deepEqual([begun, limiter.running, limiter.waiting], [[0, 1], 1, 2]);
  for (const { resolve } of held) resolve();
  await Promise.all(works);
  assert.deepEqual([begun, limiter.running, limiter.waiting], [[0, 1, 2, 3], 0, 0]);
});

test('a caller aborted while waiting for a limiter stops waiting at once, and takes no slot', async () => {
  const limiter = new Limiter(1);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const first = limiter.run(() => held);
  const leaving = new AbortController();
  const second = limiter.run(() => assert.fail('it has left'), leaving.signal);
  const third = limiter.run(async () => 'third');
  leaving.abort(new Error('left'));
  await assert.rejects(second, /left/); // while the first still runs
  release();
  await first;
  assert.equal(await third, 'third');
  assert.equal(await limiter.run(async () => 'fourth'), 'fourth');
});

test('a caller aborted just as its turn comes frees the slot for the next', async () => {
  const limiter = new Limiter(1);
  const leaving = new AbortController();
  const first = limiter.run(async () => undefined).then(() => leaving.abort(new Error('left')));
  const second = limiter.run(() => assert.fail('it has left'), leaving.signal);
  const third = limiter.run(async () => 'third');
  await first;
  await assert.rejects(second, /left/);
  assert.equal(await third, 'third');
});

test('a limiter runs nothing for an aborted signal, and removes its abort listener when the turn comes', async () => {
  const limiter = new Limiter(1);
  await assert.rejects(
    limiter.run(() => assert.fail('begun'), AbortSignal.abort(new Error('before'))),
    /before/,
  );
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const first = limiter.run(() => held);
  const { signal } = new AbortController();
  const second = limiter.run(async () => getEventListeners(signal, 'abort').length, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  release();
  await first;
  assert.equal(await second, 0);
});
