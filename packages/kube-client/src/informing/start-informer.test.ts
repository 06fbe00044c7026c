import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { FakeKubeClient, refusal } from '../fake-kube-client.ts';
import type { InformerChange } from '../informer.ts';
import { CONFIG_MAPS } from '../resources.ts';
import { until } from '../test-server.fixture.ts';
import { Informers } from './informers.ts';
import { startInformer } from './start-informer.ts';

const QUICK = { backoff: { initialMs: 1, maxMs: 2 }, silenceMs: 200 };

function object(name: string, rest: Partial<KubeObject['metadata']> = {}): KubeObject {
  return { metadata: { namespace: 'shop', name, uid: `uid-${name}`, ...rest } };
}

/** Starts an informer, and records the changes that it reports as `ADDED name@version`. */
function start(client: FakeKubeClient, selection: { namespace?: string; fieldSelector?: string } = {}) {
  const changes: string[] = [];
  const onChange = ({ type, object: { metadata } }: InformerChange<KubeObject>) => {
    changes.push(`${type} ${metadata.name}@${metadata.resourceVersion}`);
  };
  const informer = startInformer<KubeObject>(client, { ...selection, resource: CONFIG_MAPS, onChange }, QUICK);
  return { informer, changes, [Symbol.dispose]: () => informer.stop() };
}

test('initial objects and later changes are received from a watch', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('a'));
  using started = start(client);
  await started.informer.synced;
  assert.deepEqual(started.changes, ['ADDED a@101']);
  client.put(CONFIG_MAPS, object('b'));
  client.put(CONFIG_MAPS, object('a'));
  client.remove(CONFIG_MAPS, { namespace: 'shop', name: 'a' });
  await until(() => started.changes.length === 4);
  assert.deepEqual(started.changes.slice(1), ['ADDED b@102', 'MODIFIED a@103', 'DELETED a@104']);
  assert.deepEqual(started.informer.get({ namespace: 'shop', name: 'b' })?.metadata.name, 'b');
  assert.equal(client.callsOf({ verb: 'list' }).length, 0);
});

test('objects are listed if the server rejects initial events', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('a'));
  client.script({ verb: 'watch' }, refusal(422, 'Invalid'));
  using started = start(client);
  await started.informer.synced;
  await client.waitForCalls({ verb: 'watch' }, 2);
  assert.deepEqual(client.callsOf({ verb: 'list' })[0]!.selection?.resourceVersion, '0');
  assert.deepEqual(client.callsOf({ verb: 'watch' })[1]!.selection?.resourceVersion, '101');
});

/**
 * Returns the parameters of the watches that the informer has requested: `initial` if a watch requests initial events, and the version from
 * which it starts.
 */
function watchesOf(client: FakeKubeClient): string[] {
  return client
    .callsOf({ verb: 'watch' })
    .map(
      ({ selection }) =>
        `${selection!.sendInitialEvents === true ? 'initial ' : ''}${selection!.resourceVersion ?? 'now'}`,
    );
}

const refused = () =>
  new PodwrightError('unavailable', 'refused', {
    cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
  });
const lost = () =>
  new PodwrightError('unavailable', 'cut', { cause: Object.assign(new Error('cut'), { code: 'ECONNRESET' }) });

const only = (client: FakeKubeClient) => [...client.watches][0]!;

async function running(client: FakeKubeClient) {
  client.put(CONFIG_MAPS, object('a'));
  const started = start(client);
  await started.informer.synced;
  await until(() => client.watches.size === 1);
  return started;
}

test('a watch that ends is restarted from the last version, including bookmarks', async () => {
  const client = new FakeKubeClient();
  using started = await running(client);
  only(client).push({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '150' } } });
  await until(() => started.changes.length === 1);
  only(client).end();
  await client.waitForCalls({ verb: 'watch' }, 2);
  assert.deepEqual(watchesOf(client), ['initial now', '150']);
  assert.equal(client.callsOf({ verb: 'list' }).length, 0);
});

test('after refused connections, the same watch is retried without a list', async () => {
  const client = new FakeKubeClient();
  using started = await running(client);
  client.script({ verb: 'watch' }, refused(), refused(), refused());
  client.put(CONFIG_MAPS, object('b'));
  only(client).end(refused());
  await client.waitForCalls({ verb: 'watch' }, 5);
  assert.deepEqual(watchesOf(client), ['initial now', '102', '102', '102', '102']);
  await until(() => started.informer.problem() === undefined);
});

test('an object deleted while the server is unreachable is reported as DELETED', async () => {
  const client = new FakeKubeClient();
  using started = await running(client);
  client.script({ verb: 'watch' }, refusal(500, 'InternalError'));
  const watch = only(client);
  client.watches.delete(watch);
  client.remove(CONFIG_MAPS, { namespace: 'shop', name: 'a' });
  client.put(CONFIG_MAPS, object('b'));
  watch.end();
  await until(() => started.changes.length === 3 && client.watches.size === 1);
  assert.deepEqual(started.changes, ['ADDED a@101', 'DELETED a@101', 'ADDED b@103']);
  assert.deepEqual(watchesOf(client), ['initial now', 'initial 101', '103']);
});

test('after expired history, objects are read again from the last version, then the current ones', async () => {
  const client = new FakeKubeClient();
  using started = await running(client);
  client.script({ verb: 'watch' }, refusal(410, 'Expired'));
  only(client).end(refusal(410, 'Expired'));
  await until(() => client.callsOf({ verb: 'watch' }).length === 3 && client.watches.size === 1);
  assert.deepEqual(watchesOf(client), ['initial now', 'initial 101', 'initial now']);
  assert.deepEqual(started.changes, ['ADDED a@101']);
});

test('after an outage with lost history, the objects are soon read again', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('a'));
  const timing = { backoff: { initialMs: 10, maxMs: 60_000 } };
  const informer = startInformer<KubeObject>(client, { resource: CONFIG_MAPS }, timing);
  await informer.synced;
  await until(() => client.watches.size === 1);
  client.script({ verb: 'watch' }, ...Array.from({ length: 5 }, refused), refusal(410, 'Expired'));
  only(client).end(refused());
  await client.waitForCalls({ verb: 'watch' }, 7);
  const backAtMs = performance.now();
  await client.waitForCalls({ verb: 'watch' }, 8);
  const waitedMs = performance.now() - backAtMs;
  informer.stop();
  assert.ok(waitedMs < 500, `${waitedMs} ms, although the next pause would have been 640 to 1280`);
});

test('older versions from a server restored from a backup are accepted', async () => {
  const client = new FakeKubeClient();
  using started = await running(client);
  const tooLarge = refusal(504, 'Timeout', 'Too large resource version: 101, current: 20');
  client.script({ verb: 'watch' }, tooLarge);
  const watch = only(client);
  client.watches.delete(watch);
  client.remove(CONFIG_MAPS, { namespace: 'shop', name: 'a' });
  watch.end(refusal(410, 'Expired'));
  await until(() => started.changes.length === 2);
  assert.deepEqual(started.changes[1], 'DELETED a@101');
  assert.deepEqual(watchesOf(client), ['initial now', 'initial 101', 'initial now']);
});

test('reread makes every running informer read its objects again', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('a'));
  const changes: string[] = [];
  const all = new Informers(client, QUICK);
  const onChange = ({ type, object: { metadata } }: InformerChange<KubeObject>) => {
    changes.push(`${type} ${metadata.name}`);
  };
  const [kept, stopped] = [all.start({ resource: CONFIG_MAPS, onChange }), all.start({ resource: CONFIG_MAPS })];
  await Promise.all([kept.synced, stopped.synced]);
  stopped.stop();
  await until(() => client.watches.size === 1);
  const ahead = only(client);
  ahead.push({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '150' } } });
  client.watches.delete(ahead); // receives no more events
  client.remove(CONFIG_MAPS, { namespace: 'shop', name: 'a' });
  client.put(CONFIG_MAPS, object('b'));
  all.reread();
  await until(() => changes.length === 3);
  assert.deepEqual(changes, ['ADDED a', 'DELETED a', 'ADDED b']);
  assert.deepEqual(watchesOf(client), ['initial now', 'initial now', 'initial now']);
  kept.stop();
});

test('reread ends an informer’s back-off', async () => {
  const client = new FakeKubeClient();
  const changes: string[] = [];
  const onChange = ({ type, object: { metadata } }: InformerChange<KubeObject>) => {
    changes.push(`${type} ${metadata.name}`);
  };
  const all = new Informers(client, { backoff: { initialMs: 60_000, maxMs: 60_000 } });
  const informer = all.start({ resource: CONFIG_MAPS, onChange });
  await informer.synced;
  const watch = only(client);
  client.watches.delete(watch);
  watch.end(refusal(500, 'InternalError'));
  await until(() => informer.problem() !== undefined);
  client.put(CONFIG_MAPS, object('a'));
  all.reread();
  await until(() => changes.length === 1);
  assert.deepEqual(changes, ['ADDED a']);
  informer.stop();
});

/**
 * Counts the requests that an informer makes in 300 ms to a server that always responds the same way. The informer's backoff starts at 20
 * ms.
 */
async function requestsOf(answer: (client: FakeKubeClient) => void): Promise<number> {
  const client = new FakeKubeClient();
  const watch = client.watch.bind(client);
  client.watch = ((...call: Parameters<typeof watch>) => {
    answer(client);
    return watch(...call);
  }) as typeof client.watch;
  const timing = { backoff: { initialMs: 20, maxMs: 1000 }, silenceMs: 10_000 };
  const informer = startInformer<KubeObject>(client, { resource: CONFIG_MAPS }, timing);
  const endAt = performance.now() + 300;
  await until(() => performance.now() > endAt);
  informer.stop();
  return client.calls.length;
}

test('no response causes a hot loop', async () => {
  const gone = refusal(410, 'Expired');
  const ended = (client: FakeKubeClient) => {
    setImmediate(() => {
      for (const open of client.watches) open.end();
    });
  };
  const oneEvent = (client: FakeKubeClient) => {
    setImmediate(() => {
      client.put(CONFIG_MAPS, object('a'));
      for (const open of client.watches) open.end();
    });
  };
  const cut = (client: FakeKubeClient) => {
    setImmediate(() => {
      for (const open of client.watches) open.end(lost());
    });
  };
  const answers: Record<string, (client: FakeKubeClient) => void> = {
    gone: (client) => client.script({}, gone, gone),
    refused: (client) => client.script({}, refused()),
    flapping: (client) => client.script({}, refused(), gone),
    busy: (client) => client.script({}, refusal(429, 'TooManyRequests')),
    broken: (client) => client.script({}, refusal(500, 'InternalError'), refusal(500, 'InternalError')),
    forbidden: (client) => client.script({}, refusal(403, 'Forbidden'), refusal(403, 'Forbidden')),
    ended,
    oneEvent,
    cut,
  };
  for (const [name, answer] of Object.entries(answers)) {
    const requests = await requestsOf(answer);
    assert.ok(requests >= 2 && requests <= 24, `${name}: ${requests} requests`);
  }
});

test('objects are listed if a server without initial events stays silent', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('a'));
  const watch = client.watch.bind(client);
  client.watch = ((resource, options, signal) =>
    watch(resource, { ...options, sendInitialEvents: false }, signal)) as typeof client.watch;
  using started = start(client);
  await started.informer.synced;
  assert.deepEqual(started.changes, ['ADDED a@101']);
  await until(() => client.watches.size === 1);
});

test('objects are listed if a server never stops sending initial objects', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('a'));
  const watch = client.watch.bind(client);
  client.watch = ((resource, options, signal) =>
    watch(resource, { ...options, sendInitialEvents: false }, signal)) as typeof client.watch;
  let changes = 0;
  const sending = setInterval(() => {
    if (client.callsOf({ verb: 'list' }).length > 0) return;
    changes++;
    for (const open of client.watches) open.push({ type: 'ADDED', object: object('b', { resourceVersion: '99' }) });
  }, 5);
  const timing = { ...QUICK, silenceMs: 10_000, initialMs: 100 };
  const informer = startInformer<KubeObject>(client, { resource: CONFIG_MAPS }, timing);
  try {
    await informer.synced;
    assert.ok(changes > 1);
    assert.deepEqual(
      informer.list().map(({ metadata }) => metadata.name),
      ['a'],
    );
  } finally {
    clearInterval(sending);
    informer.stop();
  }
});

test('a paginated list is restarted without a limit if a page has expired', async () => {
  const client = new FakeKubeClient();
  for (const name of ['a', 'b']) client.put(CONFIG_MAPS, object(name));
  const page = {
    metadata: { resourceVersion: '102', continue: 'next' },
    items: [object('a', { resourceVersion: '101' })],
  };
  client.script({ verb: 'watch' }, refusal(422, 'Invalid'));
  client.script({ verb: 'list' }, page, refusal(410, 'Expired'));
  using started = start(client);
  await started.informer.synced;
  assert.deepEqual(
    client.callsOf({ verb: 'list' }).map(({ selection }) => [selection!.limit, selection!.continue]),
    [
      [500, undefined],
      [500, 'next'],
      [undefined, undefined],
    ],
  );
  assert.deepEqual(started.changes, ['ADDED a@101', 'ADDED b@102']);
});

test('a stopped informer closes its watch, reports nothing more and rejects `synced`', async () => {
  const client = new FakeKubeClient();
  const started = await running(client);
  started.informer.stop();
  await until(() => client.watches.size === 0);
  client.put(CONFIG_MAPS, object('b'));
  assert.deepEqual(started.changes, ['ADDED a@101']);
  client.script({ verb: 'watch' }, refused());
  const waiting = start(client);
  waiting.informer.stop();
  await assert.rejects(waiting.informer.synced, { code: 'cancelled' });
  assert.equal(waiting.informer.hasSynced(), false);
});
