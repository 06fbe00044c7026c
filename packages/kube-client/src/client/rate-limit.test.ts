import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeKubeClient } from '../fake-kube-client.ts';
import { NODES } from '../resources.ts';
import { TokenBucket, withRateLimit } from './rate-limit.ts';

test('a burst is sent at once, later calls at the configured rate, and the bucket refills while idle', () => {
  let now = 0;
  const bucket = new TokenBucket({ qps: 10, burst: 2 }, () => now);
  const take = () => Math.round(bucket.take());
  assert.deepEqual([take(), take(), take(), take()], [0, 0, 100, 200]);
  now = 10_000;
  assert.deepEqual([take(), take(), take()], [0, 0, 100]);
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
