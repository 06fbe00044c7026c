import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeKubeClient } from '../fake-kube-client.ts';
import { NODES } from '../resources.ts';
import { TokenBucket, withRateLimit } from './rate-limit.ts';

test('a burst is sent at once, later calls at the configured rate, and the bucket refills while idle', () => {
  let now = 0;
  const bucket = new TokenBucket({ qps: 10, burst: 2 }, () => now);
  const take = () => Math.round(bucket.take().waitMs);
  assert.deepEqual([take(), take(), take(), take()], [0, 0, 100, 200]);
  now = 10_000;
  assert.deepEqual([take(), take(), take()], [0, 0, 100]);
});

test('the token of an aborted call is given back, unless a later call already waits for the next one', () => {
  let now = 0;
  const bucket = new TokenBucket({ qps: 10, burst: 1 }, () => now);
  const take = () => bucket.take();
  const waitOf = ({ waitMs }: { waitMs: number }) => Math.round(waitMs);
  take();
  bucket.giveBack(take());
  const [first, second] = [take(), take()];
  assert.deepEqual([first, second].map(waitOf), [100, 200]);
  bucket.giveBack(first);
  const third = take();
  assert.equal(waitOf(third), 300, 'the second call keeps its time');
  bucket.giveBack(third);
  bucket.giveBack(second);
  const last = take();
  assert.equal(waitOf(last), 200);
  now = 200;
  bucket.giveBack(last); // too late: the call may have been sent
  assert.equal(waitOf(take()), 100);
});

test('aborted calls do not delay later ones', async () => {
  const limited = withRateLimit(new FakeKubeClient(), { qps: 20, burst: 1 });
  const get = (signal: AbortSignal) => limited.get(NODES, { name: 'n' }, { signal }).catch((error: unknown) => error);
  await get(new AbortController().signal);
  for (let count = 0; count < 100; count++) await get(AbortSignal.abort(new Error('not needed')));
  const startedMs = performance.now();
  await get(new AbortController().signal);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs < 2500, `waited ${tookMs} ms for one of 20 tokens per second`);
});

test('clients with separate limits share the connection, and watches and other clients are not delayed', async () => {
  const fake = new FakeKubeClient();
  fake.put(NODES, { metadata: { name: 'n' } });
  const limited = withRateLimit(fake, { qps: 0.001, burst: 1 });
  await limited.get(NODES, { name: 'n' });
  const stop = new AbortController();
  const waiting = limited.get(NODES, { name: 'n' }, { signal: stop.signal });
  await withRateLimit(fake, { qps: 1, burst: 1 }).get(NODES, { name: 'n' });
  const watch = limited.watch(NODES, { timeoutSeconds: 1, sendInitialEvents: true }, stop.signal);
  assert.equal((await watch[Symbol.asyncIterator]().next()).done, false);
  assert.equal(fake.callsOf({ verb: 'get' }).length, 2);
  stop.abort(new Error('not needed'));
  await assert.rejects(waiting, /not needed/);
});
