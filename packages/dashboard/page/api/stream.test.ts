import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { ApiError } from './request.ts';
import { stream } from './stream.ts';

/** A fake WebSocket without a network. The test sends the server's messages. */
class FakeSocket extends EventTarget {
  static last: FakeSocket;
  readonly url: URL;
  readonly protocols: string[];
  isClosed = false;
  binaryType = '';

  constructor(url: string, protocols: string[]) {
    super();
    this.url = new URL(url);
    this.protocols = protocols;
    FakeSocket.last = this;
  }

  send(...messages: (string | object)[]): void {
    for (const message of messages) {
      const data = typeof message === 'string' ? new TextEncoder().encode(message).buffer : JSON.stringify(message);
      this.dispatchEvent(Object.assign(new Event('message'), { data }));
    }
  }

  end(code: number): void {
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }

  close(): void {
    this.isClosed = true;
  }
}

const NAMES = ['WebSocket', 'location', 'localStorage'] as const;
const before = NAMES.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
beforeEach(() => {
  const values = [FakeSocket, { href: 'http://localhost:1/#/pods' }, { getItem: () => 'secret' }];
  for (const [index, name] of NAMES.entries())
    Object.defineProperty(globalThis, name, { value: values[index], configurable: true });
});
afterEach(() => {
  NAMES.forEach((name, index) => {
    if (before[index] === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, before[index]);
  });
});

/** How many times the last stream has called `onOpen`. */
let opened = 0;

/** Returns the text of a stream from the API server. `act` plays the server's side of the WebSocket, or aborts the stream. */
async function collect(act: (socket: FakeSocket, abort: AbortController) => void) {
  const abort = new AbortController();
  const query = { watch: true, resourceVersion: '5', continue: undefined };
  opened = 0;
  const onOpen = () => opened++;
  const chunks = stream('api/v1/pods', { query, accept: 'a;b', signal: abort.signal, onOpen });
  const first = chunks.next();
  const { last } = FakeSocket;
  act(last, abort);
  let text = '';
  for (let next = await first; !next.done; next = await chunks.next()) text += new TextDecoder().decode(next.value);
  return text;
}

test('an answer is read to its end, and its path and the session key are sent', async () => {
  const text = await collect((socket) => {
    socket.send({ status: 200 }, 'one\n', 'two\n');
    socket.end(1000);
  });
  assert.deepEqual([text, opened], ['one\ntwo\n', 1]);
  const { url, protocols, isClosed } = FakeSocket.last;
  assert.equal(url.href.split('?')[0], 'ws://localhost:1/dashboard/stream');
  assert.equal(url.searchParams.get('path'), '/api/v1/pods?watch=true&resourceVersion=5');
  assert.equal(url.searchParams.get('accept'), 'a;b');
  assert.deepEqual(protocols, ['podwright.stream.v1', 'podwright.key.secret']);
  assert.ok(isClosed);
});

test('an answer with an error status is thrown with its reason', async () => {
  const refused = collect((socket) => {
    socket.send({ status: 410 }, '{"reason":"Expired",', '"message":"too old"}');
    socket.end(1000);
  });
  await assert.rejects(
    refused,
    (error) => error instanceof ApiError && error.code === 410 && error.reason === 'Expired',
  );
  assert.equal(opened, 0);
});

test('chunks from before a lost connection are read before the loss is thrown', async () => {
  let read = '';
  const abort = new AbortController();
  const chunks = stream('api', { signal: abort.signal });
  const first = chunks.next();
  FakeSocket.last.send({ status: 200 }, 'one');
  FakeSocket.last.end(1011);
  read += new TextDecoder().decode((await first).value as Uint8Array);
  assert.equal(read, 'one');
  await assert.rejects(chunks.next(), /the connection was lost/);
});

test('an abort ends the stream and closes its socket', async () => {
  const aborted = collect((socket, abort) => {
    socket.send({ status: 200 });
    abort.abort();
  });
  await assert.rejects(aborted, /cancelled/);
  assert.ok(FakeSocket.last.isClosed);
});
