import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import { ReviewMemory } from './review-memory.ts';

const MIB = 1 << 20;

/**
 * Makes a caller hold reviews of a given size, each for a different request, until one is rejected with 429 or a hundred are held. Returns
 * the holds.
 */
function fill(memory: ReviewMemory, caller: string, bytes: number): (Disposable | undefined)[] {
  const held: (Disposable | undefined)[] = [];
  try {
    while (held.length < 100) held.push(memory.hold({}, caller, bytes));
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.status.code, 429);
  }
  return held;
}

test('one caller cannot fill the memory for reviews waiting for webhooks', () => {
  const memory = new ReviewMemory();
  const held = fill(memory, 'user one', 4 * MIB);
  assert.equal(held.length, 8);
  assert.equal(fill(memory, 'user two', 4 * MIB).length, 4);
  assert.equal(fill(memory, 'user three', 6 * MIB).length, 1);
  held[0]![Symbol.dispose]();
  assert.equal(fill(memory, 'user four', 4 * MIB).length, 2);
});

test('small reviews are not counted', () => {
  const memory = new ReviewMemory();
  assert.equal(fill(memory, 'user one', 32 << 10).length, 100);
  assert.equal(fill(memory, 'user one', 4 * MIB).length, 8);
  assert.equal(fill(memory, 'user one', 32 << 10).length, 100);
});

test('the reviews of a request are counted once, until the last one ends', () => {
  const memory = new ReviewMemory();
  const request = {};
  const reviews = Array.from({ length: 20 }, () => memory.hold(request, 'user one', 6 * MIB));
  assert.equal(fill(memory, 'user one', 6 * MIB).length, 4);
  for (const review of reviews.slice(1)) review![Symbol.dispose]();
  assert.equal(fill(memory, 'user one', 6 * MIB).length, 0);
  reviews[0]![Symbol.dispose]();
  assert.equal(fill(memory, 'user one', 6 * MIB).length, 1);
});
