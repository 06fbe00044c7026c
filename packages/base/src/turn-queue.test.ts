import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnQueue } from './turn-queue.ts';

test('keys take turns, and the items of a key are taken in order', () => {
  const queue = new TurnQueue<string>();
  const taken = (count: number) => Array.from({ length: count }, () => queue.take());
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1']) queue.add(item[0]!, item);
  assert.deepEqual([queue.size, queue.sizeOf('a'), queue.sizeOf('d')], [5, 3, 0]);
  assert.deepEqual(taken(2), ['a1', 'b1']);
  queue.add('b', 'b2'); // after the turn of b
  assert.deepEqual(taken(5), ['c1', 'a2', 'b2', 'a3', undefined]);
  assert.deepEqual([queue.size, queue.sizeOf('a')], [0, 0]);
});

test('an item can be removed before its turn', () => {
  const queue = new TurnQueue<string>();
  for (const item of ['a1', 'b1', 'b2']) queue.add(item[0]!, item);
  assert.deepEqual([queue.remove('b', 'b1'), queue.remove('b', 'b1'), queue.remove('c', 'b2')], [true, false, false]);
  assert.equal(queue.remove('a', 'a1'), true);
  assert.deepEqual([queue.size, queue.take(), queue.take()], [1, 'b2', undefined]);
});

test('turns stay in order over thousands of keys and items', () => {
  const queue = new TurnQueue<number>();
  const keys = 3000;
  for (let item = 0; item < 2 * keys; item++) queue.add(String(item % keys), item);
  for (let item = 0; item < 2 * keys; item++) assert.equal(queue.take(), item);
  assert.deepEqual([queue.size, queue.take()], [0, undefined]);
  queue.add('new', 1);
  assert.deepEqual([queue.sizeOf('new'), queue.sizeOf('0'), queue.take()], [1, 0, 1]);
});
