import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { BoundedReads } from './open-files.ts';

test('while a file system hangs, no others are read', async () => {
  const reads = new BoundedReads();
  const hung = Promise.withResolvers<number>();
  assert.equal(await reads.take(() => hung.promise), undefined);
  let count = 0;
  const read = async () => ++count;
  assert.deepEqual([await reads.take(read), count], [undefined, 0]);
  hung.resolve(0);
  const signal = AbortSignal.timeout(5000);
  assert.equal(await waitFor(() => reads.take(read), { intervalMs: 1, signal }), 1);
  assert.equal(await reads.take(() => Promise.reject(new Error('stale'))), undefined);
  assert.equal(await reads.take(read), 2);
});
