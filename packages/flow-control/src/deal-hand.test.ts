import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dealHand } from './deal-hand.ts';

test('a flow always has the same hand of distinct queues', () => {
  for (let flow = 0; flow < 500; flow++) {
    const hand = dealHand(`f${flow}`, { queues: 16, handSize: 8 });
    assert.deepEqual(dealHand(`f${flow}`, { queues: 16, handSize: 8 }), hand);
    assert.equal(new Set(hand).size, 8);
    assert.ok(hand.every((queue) => queue >= 0 && queue < 16));
  }
});

test('each queue is in about the same number of hands', () => {
  const counts = new Map<number, number>();
  for (let flow = 0; flow < 8000; flow++)
    for (const queue of dealHand(`f${flow}`, { queues: 64, handSize: 6 }))
      counts.set(queue, (counts.get(queue) ?? 0) + 1);
  assert.equal(counts.size, 64);
  for (const count of counts.values()) assert.ok(count > 600 && count < 900, `${count}`);
});

test('a hand has at most as many queues as the level, even out of millions', () => {
  assert.deepEqual(dealHand('f', { queues: 1, handSize: 3 }), [0]);
  assert.deepEqual(dealHand('f', { queues: 3, handSize: 3 }).sort(), [0, 1, 2]);
  assert.equal(dealHand('f', { queues: 10_000_000, handSize: 2 }).length, 2);
});
