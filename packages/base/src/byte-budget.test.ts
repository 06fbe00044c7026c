import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedBytes } from './bounded-bytes.ts';
import { ByteBudget } from './byte-budget.ts';

test('shares together never exceed the budget, and return everything once', () => {
  const budget = new ByteBudget(10);
  const [first, second] = [budget.open(), budget.open()];
  assert.ok(first.reserve(6));
  assert.ok(!second.reserve(5));
  assert.ok(second.reserve(4));
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  assert.equal(budget.freeBytes, 6);
  second[Symbol.dispose]();
  assert.equal(budget.freeBytes, 10);
});

test('a buffer at the budget grows by less than double, and drops everything from the first bytes that do not fit', () => {
  const budget = new ByteBudget(1000);
  const share = budget.open();
  const gathered = new BoundedBytes(1 << 20, share);
  for (const [size, text] of [
    [4096, 'a'],
    [800, 'b'],
    [1000, 'c'],
    [1, 'd'],
  ] as const)
    gathered.add(Buffer.alloc(size, text));
  assert.equal(gathered.bytes().toString(), 'a'.repeat(4096) + 'b'.repeat(800));
  assert.ok(gathered.isCut);
  share[Symbol.dispose]();
  assert.equal(budget.freeBytes, 1000);
});
