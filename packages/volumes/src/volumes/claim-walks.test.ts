import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { ClaimWalks } from './claim-walks.ts';

test('walks are shorter while many claims wait', async () => {
  const limits: number[] = [];
  const stopping = new AbortController();
  const walks = new ClaimWalks(async (_claim, { timeoutMs }) => {
    limits.push(timeoutMs);
    return { bytes: 1 };
  });
  for (let index = 0; index < 41; index++)
    walks.useOf({ namespace: 'x', name: `c${index}`, path: `/c${index}` }, stopping.signal);
  await waitFor(async () => limits.length === 41 || undefined, { intervalMs: 1, signal: AbortSignal.timeout(10_000) });
  assert.equal(limits[0], 10_000); // begins before the others wait
  assert.deepEqual([limits[1], limits[39], limits[40]], [500, 5000, 10_000]);
  stopping.abort();
});
