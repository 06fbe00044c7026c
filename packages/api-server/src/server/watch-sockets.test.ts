/** Tests of watches over WebSocket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { send, WAYS } from './test-client.fixture.ts';
import { TestServer } from './test-server.fixture.ts';

const PODS = '/api/v1/namespaces/x/pods';
const ORIGIN = { origin: 'http://localhost' };
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Sends a WebSocket handshake over the unix socket. */
function handshake(server: TestServer, path: string, headers: Record<string, string> = ORIGIN): Socket {
  const upgrade = { host: 'a', connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const all = Object.entries({ ...upgrade, 'sec-websocket-key': KEY, ...headers });
  const socket = connect(server.socketPath);
  socket.write(`GET ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  return socket;
}

type Message = { opcode: number; payload: Buffer };

/** Yields the head of the handshake response and then each WebSocket message. */
async function* received(socket: Socket): AsyncGenerator<string | Message, undefined> {
  let buffer: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let hasHead = false;
  for await (const chunk of socket) {
    buffer = Buffer.concat([buffer, chunk]);
    const end = buffer.indexOf('\r\n\r\n');
    if (!hasHead && end >= 0) {
      hasHead = true;
      yield buffer.subarray(0, end).toString();
      buffer = buffer.subarray(end + 4);
    }
    for (let length = messageLength(buffer); hasHead && length !== undefined; length = messageLength(buffer)) {
      const isLong = buffer[1] === 126;
      yield { opcode: buffer[0]! & 15, payload: buffer.subarray(isLong ? 4 : 2, length) };
      buffer = buffer.subarray(length);
    }
  }
}

/**
 * Returns the length of the first message including its header, or `undefined` if it is incomplete. Messages in this test are shorter than
 * 64 KiB.
 */
function messageLength(buffer: Buffer): number | undefined {
  if (buffer.length < (buffer[1] === 126 ? 4 : 2)) return undefined;
  const length = buffer[1]! < 126 ? 2 + buffer[1]! : 4 + buffer.readUInt16BE(2);
  return buffer.length < length ? undefined : length;
}

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;

const create = (server: TestServer, name: string) =>
  send(server, WAYS[0], { method: 'POST', path: PODS, body: JSON.stringify({ metadata: { name } }) });

const next = async (events: AsyncGenerator<string | Message, undefined>) => {
  const { value } = await events.next();
  assert.ok(typeof value === 'object');
  return value;
};

test('each event of a watch is a message, until the watch ends', async () => {
  const codes: number[] = [];
  const observer = { completed: (_: unknown, status: number) => void codes.push(status) };
  await using server = await TestServer.start({ observers: [observer] });
  await create(server, 'a');
  const headers = { ...ORIGIN, 'sec-websocket-protocol': 'v1.example' };
  const socket = handshake(server, `${PODS}?watch=1&timeoutSeconds=2`, headers);
  const events = received(socket);
  const head = (await events.next()).value as string;
  assert.match(head, /^HTTP\/1\.1 101 /);
  assert.match(head, /^sec-websocket-protocol: v1\.example$/im);
  const named = ({ opcode, payload }: Message) => {
    const { type, object } = JSON.parse(payload.toString());
    return [opcode, type, object.metadata.name];
  };
  assert.deepEqual(named(await next(events)), [TEXT, 'ADDED', 'a']);
  await create(server, 'b');
  assert.deepEqual(named(await next(events)), [TEXT, 'ADDED', 'b']);
  assert.equal((await next(events)).opcode, CLOSE);
  socket.destroy();
  await waitFor(() => codes.includes(101) || undefined, { intervalMs: 5, signal: AbortSignal.timeout(5000) });
  assert.deepEqual(server.errors, []);
});

test('protobuf events are binary messages without a length', async () => {
  await using server = await TestServer.start();
  await create(server, 'a');
  const accept = 'application/vnd.kubernetes.protobuf;stream=watch';
  const socket = handshake(server, `/api/v1/watch/namespaces/x/pods/a`, { ...ORIGIN, accept });
  const events = received(socket);
  assert.match((await events.next()).value as string, /^HTTP\/1\.1 101 /);
  const { opcode, payload } = await next(events);
  assert.deepEqual([opcode, payload.subarray(0, 7).toString('latin1')], [BINARY, '\n\x05ADDED']);
  socket.destroy();
});

test('a watch ends when its client closes the connection', async () => {
  let ended = false;
  const resource = {
    async *watch({ signal }: { signal?: AbortSignal }) {
      await once(signal!, 'abort');
      ended = true;
      yield [];
    },
  };
  await using server = await TestServer.start({ resource });
  const socket = handshake(server, `${PODS}?watch=1`);
  await once(socket, 'data');
  socket.destroy();
  await waitFor(() => ended || undefined, { intervalMs: 5, signal: AbortSignal.timeout(5000) });
});

test('handshakes are rejected as upstream does, and other requests are not upgraded', async () => {
  await using server = await TestServer.start({ decide: ({ namespace }) => (namespace === 'x' ? 'allow' : 'deny') });
  const answer = async (path: string, headers?: Record<string, string>) =>
    (await text(handshake(server, path, { ...headers, 'content-length': '0' }))).split('\r\n')[0];
  assert.equal(await answer(`${PODS}?watch=1`), 'HTTP/1.1 403 Forbidden');
  assert.equal(await answer('/api/v1/namespaces/y/pods?watch=1', ORIGIN), 'HTTP/1.1 403 Forbidden');
  const several = { ...ORIGIN, 'sec-websocket-protocol': 'a, b' };
  assert.equal(await answer(`${PODS}?watch=1`, several), 'HTTP/1.1 403 Forbidden');
  const list = handshake(server, PODS);
  assert.match(String((await once(list, 'data'))[0]), /^HTTP\/1\.1 200 OK[\s\S]*"kind":"PodList"/);
  list.destroy();
});

test('a large event is one message with several fragments', async () => {
  await using server = await TestServer.start();
  const annotations = { a: 'ä'.repeat(60_000) };
  await send(server, WAYS[0], {
    method: 'POST',
    path: PODS,
    body: JSON.stringify({ metadata: { name: 'a', annotations } }),
  });
  const socket = handshake(server, `${PODS}?watch=1&resourceVersion=0`);
  const events = received(socket);
  await events.next();
  const opcodes: number[] = [];
  let body = Buffer.alloc(0);
  while (!body.toString().endsWith('}\n')) {
    const { opcode, payload } = await next(events);
    opcodes.push(opcode);
    body = Buffer.concat([body, payload]);
  }
  assert.ok(opcodes.length > 2, `${opcodes.length} fragments`);
  assert.deepEqual([opcodes[0], new Set(opcodes.slice(1))], [TEXT, new Set([0])]);
  assert.deepEqual(JSON.parse(body.toString()).object.metadata.annotations, annotations);
  socket.destroy();
});
