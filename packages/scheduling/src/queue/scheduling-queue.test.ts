import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { testPod } from '../cluster/test-objects.fixture.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

const signal = new AbortController().signal;
const key = (name: string) => `default/${name}`;

/** The name of the next pod, or `none` if none is ready. */
async function next(queue: SchedulingQueue): Promise<string> {
  const stop = new AbortController();
  const found = queue.next(stop.signal).then((pod) => pod?.metadata.name ?? 'none');
  await Promise.resolve();
  stop.abort();
  return found;
}

test('higher-priority pods come first, then those waiting longer', async () => {
  const queue = new SchedulingQueue();
  queue.put(testPod('a'));
  queue.put(testPod('b'));
  queue.put(testPod('vip', { spec: { priority: 5 } }));
  for (const name of ['vip', 'a', 'b']) {
    assert.equal((await queue.next(signal))?.metadata.name, name);
    queue.delete(key(name));
  }
  assert.equal(await next(queue), 'none');
});

test('an unschedulable pod waits for a change, and then for the end of its back-off', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const clock = mock.method(performance, 'now', () => nowMs);
  t.after(() => clock.mock.restore());
  const pass = (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
  const queue = new SchedulingQueue();
  queue.put(testPod('a'));
  for (const backoffMs of [1000, 2000, 4000, 8000, 10_000, 10_000]) {
    assert.equal(await next(queue), 'a');
    queue.failed(key('a'), { isError: false });
    assert.equal(await next(queue), 'none');
    queue.clusterChanged(() => false);
    pass(backoffMs);
    assert.equal(await next(queue), 'none');
    queue.clusterChanged();
  }
  assert.equal(await next(queue), 'a');
  queue.failed(key('a'), { isError: false });
  queue.clusterChanged();
  pass(9999);
  assert.equal(await next(queue), 'none');
  pass(1);
  assert.equal(await next(queue), 'a');
  queue.failed(key('a'), { isError: false });
  pass(5 * 60_000);
  assert.equal(await next(queue), 'a'); // some change may have been missed
});

test('after a change during an attempt, or an error, a pod waits only for its back-off', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const isError of [true, false]) {
    const queue = new SchedulingQueue();
    queue.put(testPod('a'));
    assert.equal(await next(queue), 'a');
    if (!isError) queue.clusterChanged();
    queue.failed(key('a'), { isError });
    t.mock.timers.tick(1001);
    assert.equal(await next(queue), 'a');
  }
});

test('a pod being bound is not tried again, and each failed binding lengthens its backoff', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const pass = (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
  const queue = new SchedulingQueue();
  queue.put(testPod('a'));
  for (const backoffMs of [1000, 2000, 4000]) {
    assert.equal(await next(queue), 'a');
    queue.binding(key('a'));
    queue.clusterChanged();
    assert.equal(await next(queue), 'none');
    queue.put(testPod('a', { labels: { changed: String(nowMs) } }));
    queue.failed(key('a'), { isError: true });
    pass(backoffMs - 1);
    assert.equal(await next(queue), 'none');
    pass(1);
  }
  assert.equal(await next(queue), 'a');
});

test('a pod with changed requirements is retried, but a status update has no effect', async () => {
  const queue = new SchedulingQueue();
  const put = (fields: Parameters<typeof testPod>[1]) => queue.put(testPod('a', fields));
  put({});
  await queue.next(signal);
  queue.failed(key('a'), { isError: false });
  put({ status: { message: 'x' } });
  assert.equal(await next(queue), 'none');
  const replaced: Pod = testPod('a', { metadata: { uid: 'other' } });
  queue.put(replaced);
  assert.equal(await queue.next(signal), replaced);
});
