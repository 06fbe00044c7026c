import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { unlessHung } from './open-files.ts';

test('while a file system hangs, no others are read', async () => {
  const hung = Promise.withResolvers<number>();
  assert.equal(await unlessHung(() => hung.promise), undefined);
  let reads = 0;
  const read = async () => ++reads;
  assert.deepEqual([await unlessHung(read), reads], [undefined, 0]);
  hung.resolve(0);
  const signal = AbortSignal.timeout(5000);
  assert.equal(await waitFor(() => unlessHung(read), { intervalMs: 1, signal }), 1);
  assert.equal(await unlessHung(() => Promise.reject(new Error('stale'))), undefined);
  assert.equal(await unlessHung(read), 2);
});
