import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { waitFor } from '@podwright/base';
import { ClaimWalks } from './claim-walks.ts';

test('walks are shorter while many claims are waiting', async () => {
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

test('a claim that is being walked is not walked again', async () => {
  const walk = Promise.withResolvers<{ bytes: number }>();
  let count = 0;
  const stopping = new AbortController();
  const walks = new ClaimWalks(() => {
    count += 1;
    return walk.promise;
  });
  const claim = { namespace: 'x', name: 'c', path: '/c' };
  for (let index = 0; index < 3; index++) assert.equal(walks.useOf(claim, stopping.signal), undefined);
  walk.resolve({ bytes: 7 });
  await waitFor(async () => walks.useOf(claim, stopping.signal), { intervalMs: 1, signal: AbortSignal.timeout(5000) });
  await setTimeout(20);
  assert.equal(count, 1);
  stopping.abort();
});
