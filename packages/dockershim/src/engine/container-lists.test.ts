import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { LIST_CACHE_MS } from '../limits.ts';
import { engineAt } from './engine.ts';
import { startFakeEngine } from './fake-engine.fixture.ts';

const bound = () => AbortSignal.timeout(30_000);

/** A fake Engine that counts requests for container lists and lets the test send events. */
function countingEngine() {
  const calls = new EventEmitter<{ events: [ServerResponse]; post: [ServerResponse] }>();
  const counted = { lists: 0 };
  const answer: RequestListener = ({ method, url }, response) => {
    if (method === 'POST') calls.emit('post', response);
    else if (url!.includes('/events')) {
      response.flushHeaders();
      calls.emit('events', response);
    } else {
      counted.lists++;
      response.end('[]');
    }
  };
  return { calls, counted, answer };
}

test('a list is requested once while nothing changes, and again after each change', async () => {
  const { calls, counted, answer } = countingEngine();
  await using fake = await startFakeEngine(answer);
  const engine = engineAt(fake.socket);
  const filter = { label: ['a'] };
  const isCached = async () => {
    const before = counted.lists;
    await engine.lists.list(filter);
    await engine.lists.list(filter);
    return counted.lists - before < 2;
  };
  const cached = () => waitFor(async () => (await isCached()) || undefined, { intervalMs: 5, signal: bound() });
  const asksAgain = async (why: string) => {
    const [before, sinceMs] = [counted.lists, performance.now()];
    const asked = async () => {
      await engine.lists.list(filter);
      return counted.lists > before || undefined;
    };
    await waitFor(asked, { intervalMs: 5, signal: bound() });
    assert.ok(performance.now() - sinceMs < LIST_CACHE_MS, why); // not because the list expired
  };
  try {
    const following = once(calls, 'events', { signal: bound() });
    assert.equal(await isCached(), false, 'the events are not followed yet');
    const [events] = await following;
    await cached();
    const other = counted.lists;
    await engine.lists.list({ label: ['b'] });
    assert.equal(counted.lists, other + 1, 'each filter has its own list');
    events.write('{}\n');
    await asksAgain('an event');
    await cached();
    const posted = once(calls, 'post', { signal: bound() });
    const started = engine.containers.start('c');
    const [response] = await posted;
    assert.equal(await isCached(), false, 'a call that changes something is under way');
    response.end();
    await started;
    await asksAgain('a call has finished');
    await cached();
    const streams = { AttachStdin: false, AttachStdout: true, AttachStderr: true };
    const preparing = engine.exec.create('c', { ...streams, Tty: false, Cmd: ['a'] });
    const [preparation] = await once(calls, 'post', { signal: bound() });
    preparation.end('{"Id":"e"}');
    await preparing;
    const asked = counted.lists;
    await engine.lists.list(filter);
    assert.equal(counted.lists, asked, 'an exec does not invalidate lists');
    const again = once(calls, 'events', { signal: bound() });
    events.destroy();
    await asksAgain('the event stream has ended');
    await again;
    await cached();
  } finally {
    engine.close();
  }
});
