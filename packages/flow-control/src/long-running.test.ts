import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongRunning } from './long-running.ts';

test('a caller has at most as many requests as the maximum now allows, and others have their own', () => {
  let max = 1;
  const requests = new LongRunning(() => max);
  const first = requests.enter('a');
  assert.ok(first !== undefined);
  assert.equal(requests.enter('a'), undefined);
  assert.ok(requests.enter('b') !== undefined);
  max = 2; // as when a node joins
  assert.ok(requests.enter('a') !== undefined);
  max = 1;
  first[Symbol.dispose]();
  assert.equal(requests.enter('a'), undefined);
});
