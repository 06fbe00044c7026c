import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import { isApiStatus } from '../api-status-error.ts';
import type { WatchEvent } from '../kube-client.ts';
import { SECRETS } from '../resources.ts';
import { type TestResponse, TestServer, until } from '../test-server.fixture.ts';
import { createKubeClient } from './create-kube-client.ts';
import { watchEvents } from './watch-stream.ts';

function event(type: string, name: string, data = 'é'): string {
  return `${JSON.stringify({ type, object: { metadata: { name, resourceVersion: '7' }, data } })}\n`;
}

function connect(server: TestServer) {
  const client = createKubeClient({ server: server.url, tls: server.tls });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

/** Runs a watch. Returns the names of the objects in its events, and the error that ended the watch. */
async function watch(server: TestServer): Promise<{ names: string[]; error?: unknown }> {
  using client = connect(server);
  const names: string[] = [];
  try {
    for await (const { object } of client.watch(SECRETS, { timeoutSeconds: 300 }, new AbortController().signal))
      names.push(String(object.metadata.name));
    return { names };
  } catch (error) {
    return { names, error };
  }
}

const begin = (response: TestResponse) => response.writeHead(200, { 'content-type': 'application/json' });

for (const kind of ['h2', 'https', 'http'] as const) {
  test(`a watch over ${kind} that is cut off at any byte yields complete events, and then an error`, async () => {
    const bytes = Buffer.from(event('ADDED', 'a') + event('MODIFIED', 'b'));
    const firstEnd = bytes.indexOf('\n') + 1;
    let length = 1;
    await using server = await TestServer.start(kind, (_request, response) => {
      begin(response);
      response.write(bytes.subarray(0, length), () => setImmediate(() => server.cut()));
    });
    for (; length <= bytes.length; length++) {
      const { names, error } = await watch(server);
      const whole = length === bytes.length ? ['a', 'b'] : length >= firstEnd ? ['a'] : [];
      // the last bytes might be lost with the connection, so an event might be missing, but a partial event must never be reported
      assert.ok(names.length <= whole.length && names.every((name, index) => name === whole[index]), `${length} bytes`);
      assert.equal((error as { code?: string })?.code, 'unavailable', `${length} bytes`);
    }
  });
}

test('a watch may be ended by the server, with or without a final newline', async () => {
  for (const text of ['', event('ADDED', 'a'), event('ADDED', 'a').trim(), `\n\n${event('ADDED', 'a')}\n`]) {
    await using server = await TestServer.start('h2', (_request, response) => {
      begin(response);
      response.end(text);
    });
    assert.deepEqual(await watch(server), { names: text.trim() === '' ? [] : ['a'] });
  }
});

test('a watch ended by the server mid-line counts as truncated', async () => {
  await using server = await TestServer.start('h2', (_request, response) => {
    begin(response);
    response.end(event('ADDED', 'a') + event('ADDED', 'b').slice(0, 20));
  });
  const { names, error } = await watch(server);
  assert.deepEqual([names, (error as { code?: string }).code], [['a'], 'unavailable']);
});

const BROKEN: [what: string, text: string, code: string][] = [
  ['garbage', 'hidden\n', 'internal'],
  ['a list', '["hidden"]\n', 'internal'],
  ['an event without an object', '{"type":"ADDED"}\n', 'internal'],
  ['an object without metadata', '{"type":"ADDED","object":{"data":"hidden"}}\n', 'internal'],
  ['an event of an unknown type', '{"type":"CHANGED","object":{"metadata":{"name":"hidden"}}}\n', 'internal'],
  ['a line without end', 'x'.repeat((16 << 20) + 1), 'resource_exhausted'],
  ['zero bytes', '\0\0\0\n', 'internal'],
];

for (const [what, text, code] of BROKEN) {
  test(`a watch that receives ${what} fails`, async () => {
    await using server = await TestServer.start('h2', (_request, response) => {
      begin(response);
      response.write(event('ADDED', 'a') + text);
    });
    const { names, error } = await watch(server);
    assert.deepEqual(names, ['a']);
    assert.equal((error as { code?: string }).code, code);
    assert.ok(!(error as Error).message.includes('hidden'));
  });
}

test('an ERROR event rejects with its Status', async () => {
  await using server = await TestServer.start('h2', (_request, response) => {
    begin(response);
    const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (9)' };
    response.write(`${JSON.stringify({ type: 'ERROR', object })}\n`);
  });
  const { error } = await watch(server);
  assert.ok(isApiStatus(error, 410) && error.status.reason === 'Expired');
});

test('an object of 1.5 MB is received, in chunks of any size', async () => {
  await using server = await TestServer.start('h2', (_request, response) => {
    begin(response);
    const bytes = Buffer.from(event('ADDED', 'large', 'é'.repeat(800_000)) + event('ADDED', 'small'));
    for (let at = 0; at < bytes.length; at += 99_991) response.write(bytes.subarray(at, at + 99_991));
    response.end();
  });
  assert.deepEqual(await watch(server), { names: ['large', 'small'] });
});

test('a slow reader blocks the server’s events, but not other calls', async () => {
  let written = 0;
  const line = event('ADDED', 'a', 'x'.repeat(10_000));
  await using server = await TestServer.start('h2', ({ url }, response) => {
    if (!url.includes('watch=')) return void response.end('{"metadata":{}}');
    begin(response);
    const write = () => {
      while (written < 200_000_000 && !response.destroyed) {
        written += line.length;
        if (!response.write(line)) return void response.once('drain', write);
      }
    };
    write();
  });
  using client = connect(server);
  const stop = new AbortController();
  const events = client.watch(SECRETS, { timeoutSeconds: 300 }, stop.signal)[Symbol.asyncIterator]();
  await events.next();
  let seen = -1;
  await until(async () => {
    await client.get(SECRETS, { namespace: 'a', name: 'b' });
    const isStill = written === seen;
    seen = written;
    return isStill;
  });
  assert.ok(written < 2_000_000, `${written} bytes`);
  await events.next();
  stop.abort();
});

test('a watch ends without an error when its signal aborts, and its request is canceled', async () => {
  let open = 0;
  await using server = await TestServer.start('h2', (_request, response) => {
    open++;
    response.on('close', () => open--);
    begin(response);
    response.write(event('ADDED', 'a'));
  });
  using client = connect(server);
  const stop = new AbortController();
  const seen: WatchEvent<KubeObject>[] = [];
  for await (const next of client.watch(SECRETS, { timeoutSeconds: 300 }, stop.signal)) {
    seen.push(next);
    setImmediate(() => stop.abort());
  }
  assert.equal(seen.length, 1);
  await until(() => open === 0);
  for await (const _event of client.watch(SECRETS, { timeoutSeconds: 300 }, new AbortController().signal)) break;
  await until(() => open === 0);
});

test('onOpen is called only once the server accepts the watch', async () => {
  let answer: (() => void) | undefined;
  await using server = await TestServer.start('h2', (_request, response) => {
    answer = () => begin(response).flushHeaders?.();
  });
  using client = connect(server);
  const stop = new AbortController();
  let isOpen = false;
  const onOpen = () => {
    isOpen = true;
  };
  const first = client.watch(SECRETS, { timeoutSeconds: 300, onOpen }, stop.signal)[Symbol.asyncIterator]().next();
  await until(() => answer !== undefined);
  assert.equal(isOpen, false);
  answer!();
  await until(() => isOpen);
  stop.abort();
  assert.equal((await first).done, true);
});

test('initial objects are bounded in total, later events are not', async () => {
  const end = `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } })}\n`;
  const read = async (text: string) => {
    const answer = {
      status: 200,
      header: () => undefined,
      body: Readable.from([Buffer.from(text)]),
      isWhole: () => true,
    };
    const types: string[] = [];
    try {
      for await (const { type } of watchEvents('watch', answer, 1000)) types.push(type);
    } catch (error) {
      return [types.length, (error as Error).message];
    }
    return [types.length];
  };
  const object = event('ADDED', 'a'.repeat(300));
  assert.deepEqual(await read(object.repeat(2) + end + object.repeat(9)), [12]);
  assert.deepEqual(await read(object.repeat(9) + end), [2, 'watch: more than 1000 bytes of initial objects']);
});
