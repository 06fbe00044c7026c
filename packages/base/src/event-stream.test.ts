import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { Broadcast, follow, type Subscription } from './event-stream.ts';

async function collect(subscription: Subscription<number>, count = Number.POSITIVE_INFINITY): Promise<number[]> {
  const received: number[] = [];
  for await (const value of subscription) if (received.push(value) >= count) break;
  return received;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('every subscriber receives every value since its subscription, in order', async () => {
  const broadcast = new Broadcast<number>();
  const signal = new AbortController().signal;
  const early = [1, 2, 3].map(() => collect(broadcast.subscribe(signal), 4));
  broadcast.publish(0);
  broadcast.publish(1);
  const late = collect(broadcast.subscribe(signal), 2);
  broadcast.publish(2);
  broadcast.publish(3);
  assert.deepEqual(await Promise.all(early), [numbers(4), numbers(4), numbers(4)]);
  assert.deepEqual(await late, [2, 3]);
});

test('a slow subscriber gets the queued values and an error, without affecting others', async () => {
  const broadcast = new Broadcast<number>();
  const signal = new AbortController().signal;
  const slow = broadcast.subscribe(signal, 10);
  const quick = collect(broadcast.subscribe(signal), 1000);
  for (const number of numbers(1000)) broadcast.publish(number);
  assert.deepEqual(await quick, numbers(1000));
  const received: number[] = [];
  const reading = (async () => {
    for await (const value of slow) received.push(value);
  })();
  const message = 'watch: more than 10 changes are waiting; list and watch again';
  await assert.rejects(reading, { code: 'resource_exhausted', message });
  assert.deepEqual(received, numbers(10), 'no more than the bound was queued');
});

test('after an overflow, follow calls onOverflow with a new subscription already active, and loses no later values', async () => {
  const broadcast = new Broadcast<number>();
  const controller = new AbortController();
  const received: (number | string)[] = [];
  let isFirst = true;
  const following = follow(
    {
      subscribe: (signal) => broadcast.subscribe(signal, 3),
      onValue: (value: number) => {
        received.push(value);
        if (value === 9) controller.abort();
        if (isFirst) for (const number of numbers(9)) broadcast.publish(number);
        isFirst = false;
      },
      onOverflow: () => {
        received.push('overflow');
        broadcast.publish(9);
      },
    },
    controller.signal,
  );
  broadcast.publish(0);
  await following;
  assert.deepEqual(received, [0, 0, 1, 2, 'overflow', 9]);
});

test('follow ends if its subscription ends for a reason other than its signal', async () => {
  const broadcast = new Broadcast<number>();
  const values = broadcast.subscribe(new AbortController().signal);
  const giveUp = new AbortController();
  const iterate = values[Symbol.asyncIterator].bind(values);
  let iterations = 0;
  values[Symbol.asyncIterator] = () => {
    if (iterations++ > 10) giveUp.abort(); // otherwise a defect would block the event loop forever
    return iterate();
  };
  broadcast.publish(1);
  values.end();
  const received: number[] = [];
  const onValue = (value: number) => received.push(value);
  await follow({ subscribe: () => values, onValue, onOverflow: () => undefined }, giveUp.signal);
  assert.deepEqual([received, iterations], [[1], 1]);
});

test('an error in onValue ends follow, even if the queue has overflowed by then', async () => {
  const broadcast = new Broadcast<number>();
  const controller = new AbortController();
  let overflows = 0;
  const following = follow(
    {
      subscribe: (signal) => broadcast.subscribe(signal, 1),
      onValue: () => {
        for (const number of numbers(3)) broadcast.publish(number);
        throw new Error('of the callback');
      },
      onOverflow: () => {
        overflows++;
        controller.abort();
      },
    },
    controller.signal,
  );
  broadcast.publish(0);
  await assert.rejects(following, /of the callback/);
  assert.equal(overflows, 0);
});

test('an ended subscription removes its listener from the signal', () => {
  const broadcast = new Broadcast<number>();
  const { signal } = new AbortController();
  for (let count = 0; count < 100; count++) broadcast.subscribe(signal).end();
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a subscription ends when its signal aborts, or at once if already aborted', async () => {
  const broadcast = new Broadcast<number>();
  const controller = new AbortController();
  const received = collect(broadcast.subscribe(controller.signal));
  broadcast.publish(1);
  controller.abort();
  broadcast.publish(2);
  assert.deepEqual(await received, [1]);
  assert.deepEqual(await collect(broadcast.subscribe(controller.signal)), []);
});
