import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedBytes } from './bounded-bytes.ts';

function gather(maxBytes: number, ...chunks: string[]): { text: string; isCut: boolean } {
  const gathered = new BoundedBytes(maxBytes);
  for (const chunk of chunks) gathered.add(Buffer.from(chunk));
  assert.equal(gathered.sizeBytes, gathered.bytes().length);
  return { text: gathered.bytes().toString(), isCut: gathered.isCut };
}

test('chunks are stored in order up to the limit, and isCut reports whether any bytes were dropped', () => {
  assert.deepEqual(gather(10), { text: '', isCut: false });
  assert.deepEqual(gather(10, 'ab', '', 'cde'), { text: 'abcde', isCut: false });
  assert.deepEqual(gather(5, 'ab', 'cde'), { text: 'abcde', isCut: false });
  assert.deepEqual(gather(5, 'ab', 'cde', ''), { text: 'abcde', isCut: false });
  assert.deepEqual(gather(4, 'ab', 'cde', 'f'), { text: 'abcd', isCut: true });
  assert.deepEqual(gather(0, 'a'), { text: '', isCut: true });
});

test('many chunks are concatenated correctly as the buffer grows', () => {
  const words = Array.from({ length: 20_000 }, (_, index) => `${index} `);
  assert.deepEqual(gather(1 << 20, ...words), { text: words.join(''), isCut: false });
});

test('the initial buffer has the requested size, so bytes that fit are copied only once', () => {
  const gathered = new BoundedBytes(1 << 20, undefined, 50_000);
  gathered.add(Buffer.alloc(20_000));
  const before = gathered.bytes().buffer;
  gathered.add(Buffer.alloc(30_000));
  assert.ok(gathered.bytes().buffer === before);
  assert.equal(before.byteLength, 50_000);
});

test('the caller may reuse a chunk after adding it', () => {
  const gathered = new BoundedBytes(100);
  const chunk = Buffer.from('first');
  gathered.add(chunk);
  chunk.write('other');
  gathered.add(chunk);
  assert.equal(gathered.bytes().toString(), 'firstother');
});

test('a million one-byte chunks take little more than a megabyte of memory', () => {
  const gathered = new BoundedBytes(1 << 20);
  const before = process.memoryUsage();
  for (let count = 0; count < 1 << 20; count++) gathered.add(Buffer.alloc(1, 'x'));
  globalThis.gc?.();
  const grownBytes = process.memoryUsage().rss - before.rss;
  assert.equal(gathered.sizeBytes, 1 << 20);
  assert.ok(grownBytes < 200 << 20, `${grownBytes} bytes more`);
});
