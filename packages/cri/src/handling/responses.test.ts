import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagePages, pages } from './responses.ts';

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

test('an empty list is one empty page', async () => {
  assert.deepEqual([...pages([])], [[]]);
  assert.deepEqual(await all(messagePages([], () => [])), [[]]);
});

test('short messages are sent a hundred per page, in order', async () => {
  const numbers = Array.from({ length: 250 }, (_, index) => index);
  const found = await all(messagePages(numbers, async (some) => some.map((id) => ({ id, at: 1n }))));
  assert.deepEqual(
    found.map(({ length }) => length),
    [100, 100, 50],
  );
  assert.deepEqual(
    found.flat().map(({ id }) => id),
    numbers,
  );
});

test('long messages are sent fewer per page, and an overlong one alone', async () => {
  const lengths = [400_000, 400_000, 400_000, 5_000_000, 10, 10];
  const found = await all(messagePages(lengths, (some) => some.map((length) => 'x'.repeat(length))));
  assert.deepEqual(
    found.map((page) => page.map(({ length }) => length)),
    [[400_000, 400_000], [400_000], [5_000_000], [10, 10]],
  );
});

test('a page is omitted if all its records have been removed', async () => {
  const numbers = Array.from({ length: 150 }, (_, index) => index);
  const found = await all(messagePages(numbers, (some) => some.filter((id) => id >= 100)));
  assert.deepEqual(
    found.map(({ length }) => length),
    [50],
  );
});
