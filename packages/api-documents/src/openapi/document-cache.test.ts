import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocumentCache } from './document-cache.ts';

test('a document is built once, and rebuilt if it has been unused for some time', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const cache = new DocumentCache();
  let made = 0;
  const get = () => cache.get('a', async () => Uint8Array.of(++made));
  assert.deepEqual(await Promise.all([get(), get()]), [Uint8Array.of(1), Uint8Array.of(1)]);
  context.mock.timers.tick(59_000);
  assert.deepEqual(await get(), Uint8Array.of(1));
  context.mock.timers.tick(59_000);
  assert.deepEqual(await get(), Uint8Array.of(1));
  context.mock.timers.tick(61_000);
  assert.deepEqual(await get(), Uint8Array.of(2));
});

test('a failure is not cached', async () => {
  const cache = new DocumentCache();
  await assert.rejects(
    cache.get('a', () => Promise.reject(new Error('no memory'))),
    /no memory/,
  );
  assert.deepEqual(await cache.get('a', async () => Uint8Array.of(7)), Uint8Array.of(7));
});
