import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Broadcast, type Subscription } from './event-stream.ts';

async function collect(subscription: Subscription<number>, count = Number.POSITIVE_INFINITY): Promise<number[]> {
  const heard: number[] = [];
  for await (const value of subscription) if (heard.push(value) >= count) break;
  return heard;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('every subscriber hears everything from its subscription on, in order', async () => {
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

test('a subscriber that does not read ends with what was queued, and the others go on', async () => {
  const broadcast = new Broadcast<number>();
  const signal = new AbortController().signal;
  const slow = broadcast.subscribe(signal, 10);
  const quick = collect(broadcast.subscribe(signal), 1000);
  for (const number of numbers(1000)) broadcast.publish(number);
  assert.deepEqual(await quick, numbers(1000));
  assert.equal(slow.overflowed, true);
  assert.deepEqual(await collect(slow), numbers(10), 'no more than the bound was kept');
});

test('a subscription ends with its signal, also one that had aborted before', async () => {
  const broadcast = new Broadcast<number>();
  const controller = new AbortController();
  const heard = collect(broadcast.subscribe(controller.signal));
  broadcast.publish(1);
  controller.abort();
  broadcast.publish(2);
  assert.deepEqual(await heard, [1]);
  assert.deepEqual(await collect(broadcast.subscribe(controller.signal)), []);
});
