import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { silentLogger, waitFor } from '@podwright/base';
import { connectCri } from '../../client/connect.ts';
import { CLIENT_PREFACE, headersFrames, parseFrameHeader } from '../../http2/frames.ts';
import { HpackDecoder } from '../../http2/hpack-decoder.ts';
import { encodeLiterals } from '../../http2/hpack-encoder.ts';
import type { HeaderField } from '../../http2/static-table.ts';
import { VersionRequestSchema, VersionResponseSchema } from '../../messages.ts';
import { createCriServer } from '../create-server.ts';
import type { RuntimeHandlers } from '../handlers.ts';

const FRAME = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
const SETTINGS = Buffer.from([0, 0, 0, FRAME.settings, 0, 0, 0, 0, 0]);
const SETTINGS_ACK = Buffer.from([0, 0, 0, FRAME.settings, 1, 0, 0, 0, 0]);

const versionHandlers: Partial<RuntimeHandlers> = {
  version: async ({ version }) => ({ version: '0.1.0', runtimeName: version }),
};

async function startServer(t: TestContext, runtime: Partial<RuntimeHandlers> = versionHandlers): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-authority-'));
  const socket = join(directory, 'cri.sock');
  const server = await createCriServer({ socket, handlers: { runtime, image: {} }, logger: silentLogger });
  t.after(async () => {
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  return socket;
}

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.set([type, flags], 3);
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

/** A gRPC message with its prefix of a flag and a length. */
function grpcMessage(bytes: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

function requestHeaders(method: string, authority: string | undefined): HeaderField[] {
  const pseudo: HeaderField[] = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', `/runtime.v1.RuntimeService/${method}`],
  ];
  if (authority !== undefined) pseudo.push([':authority', authority]);
  return [...pseudo, ['content-type', 'application/grpc'], ['te', 'trailers']];
}

/** A client in bare frames, because node:http2 cannot send what old clients send. */
class RawClient {
  readonly socket: Socket;
  received = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
    });
    socket.on('error', () => undefined);
    socket.write(Buffer.concat([CLIENT_PREFACE, SETTINGS]));
  }

  /** A client says first that it has taken the server's settings, unless it is told not to. */
  static async open(t: TestContext, path: string, { acknowledges = true } = {}): Promise<RawClient> {
    const socket = connect(path);
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    const client = new RawClient(socket);
    if (acknowledges) socket.write(SETTINGS_ACK);
    return client;
  }

  call(streamId: number, fields: HeaderField[], message: Uint8Array): void {
    const headers = headersFrames(encodeLiterals(fields), { streamId, endStream: false });
    this.socket.write(Buffer.concat([headers, frame(FRAME.data, 1, streamId, grpcMessage(message))]));
  }

  frames(): { type: number; flags: number; streamId: number; payload: Buffer }[] {
    const found = [];
    for (let offset = 0; offset + 9 <= this.received.length; ) {
      const { length, ...header } = parseFrameHeader(this.received.subarray(offset));
      if (offset + 9 + length > this.received.length) break;
      found.push({ ...header, payload: this.received.subarray(offset + 9, offset + 9 + length) });
      offset += 9 + length;
    }
    return found;
  }

  /** Waits until the stream has ended: its message and its gRPC status, or the HTTP/2 error it was reset with. */
  async reply(streamId: number): Promise<{ message: Buffer; status?: string; resetCode?: number }> {
    const ended = () => {
      const own = this.frames().filter((each) => each.streamId === streamId);
      return own.some(({ type, flags }) => type === FRAME.reset || (type === FRAME.headers && flags & 1))
        ? own
        : undefined;
    };
    const own = await waitFor(ended, { intervalMs: 5, signal: AbortSignal.timeout(5000) });
    const reset = own.find(({ type }) => type === FRAME.reset);
    const data = Buffer.concat(own.filter(({ type }) => type === FRAME.data).map(({ payload }) => payload));
    const decoder = new HpackDecoder({ tableBytes: 4096, listBytes: 65_536 });
    const fields = this.frames()
      .filter(({ type }) => type === FRAME.headers)
      .flatMap(({ payload }) => decoder.decode(payload));
    const status = fields.findLast(([name]) => name === 'grpc-status')?.[1];
    return { message: data.subarray(5), status, resetCode: reset?.payload.readUInt32BE(0) };
  }
}

const authorities = [
  ...['localhost', 'localhost:0', '.', '%2Frun%2Fcri%2Fx.sock'],
  ...[undefined, '', '/run/cri/x.sock', 'run/x.sock', 'unix:///run/x.sock', 'a b'],
];

for (const authority of authorities) {
  const name = authority === undefined ? 'no authority' : `the authority ${JSON.stringify(authority)}`;
  test(`a client that sends ${name} is answered, again and again`, async (t) => {
    const client = await RawClient.open(t, await startServer(t));
    for (const streamId of [1, 3, 5]) {
      const request = create(VersionRequestSchema, { version: `stream ${streamId}` });
      client.call(streamId, requestHeaders('Version', authority), toBinary(VersionRequestSchema, request));
      const { message, status } = await client.reply(streamId);
      assert.equal(status, '0');
      assert.equal(fromBinary(VersionResponseSchema, message).runtimeName, `stream ${streamId}`);
    }
  });
}

test('a client is answered that makes no request, or never says that it took the settings', async (t) => {
  const path = await startServer(t);
  const silent = await RawClient.open(t, path);
  silent.socket.write(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
  const answered = () => silent.frames().some(({ type, flags }) => type === FRAME.ping && flags === 1) || undefined;
  await waitFor(answered, { intervalMs: 5, signal: AbortSignal.timeout(5000) });
  const stubborn = await RawClient.open(t, path, { acknowledges: false });
  for (const client of [silent, stubborn]) {
    client.call(1, requestHeaders('Version', 'localhost'), Buffer.alloc(0));
    assert.equal((await client.reply(1)).status, '0');
  }
});

test('settings come before the first request', async (t) => {
  const client = await RawClient.open(t, await startServer(t));
  const settings = () => client.frames().find(({ type }) => type === FRAME.settings);
  assert.ok(await waitFor(settings, { intervalMs: 5, signal: AbortSignal.timeout(5000) }));
});

test('a client that sends much before its first request is served', async (t) => {
  const client = await RawClient.open(t, await startServer(t));
  for (let sent = 0; sent < 5000; sent++) client.socket.write(frame(FRAME.priority, 0, 1, Buffer.alloc(5)));
  client.call(3, requestHeaders('Version', 'localhost'), Buffer.alloc(0));
  assert.equal((await client.reply(3)).status, '0');
});

test('a client that breaks the protocol loses its connection, and no other client does', async (t) => {
  const path = await startServer(t);
  const good = await RawClient.open(t, path);
  good.call(1, requestHeaders('Version', '/run/x.sock'), Buffer.alloc(0));
  assert.equal((await good.reply(1)).status, '0');
  for (const bytes of [
    frame(FRAME.headers, 4, 1, Buffer.from([0x41, 0x84, 0xff, 0xff, 0xff, 0xff])),
    frame(9, 4, 1, Buffer.alloc(0)),
    Buffer.concat([frame(FRAME.headers, 0, 1, Buffer.alloc(0)), ...Array(100).fill(frame(9, 0, 1, Buffer.alloc(0)))]),
    Buffer.from('ffffff0100000000010000', 'hex'),
  ]) {
    const bad = await RawClient.open(t, path);
    const closed = once(bad.socket, 'close', { signal: AbortSignal.timeout(5000) });
    bad.socket.write(bytes);
    await closed;
  }
  good.call(3, requestHeaders('Version', '/run/x.sock'), Buffer.alloc(0));
  assert.equal((await good.reply(3)).status, '0');
});

test('a client that ends in the middle of a frame leaves nothing behind', async (t) => {
  const path = await startServer(t);
  const client = await RawClient.open(t, path);
  client.socket.end(Buffer.from([0, 0, 9, 1]));
  await once(client.socket, 'close', { signal: AbortSignal.timeout(5000) });
});

test('a stream is produced no faster than an old client reads it', async (t) => {
  let produced = 0;
  const chunk = 'x'.repeat(100_000);
  const path = await startServer(t, {
    async *streamContainers() {
      for (; produced < 60; produced++) yield { containers: [{ id: chunk }] };
    },
  });
  const client = await RawClient.open(t, path);
  client.call(1, requestHeaders('StreamContainers', '/run/x.sock'), Buffer.alloc(0));
  // the window of HTTP/2 is 65,535 bytes until we widen it
  const settled = () => (client.received.length > 65_000 ? produced : undefined);
  await waitFor(settled, { intervalMs: 5, signal: AbortSignal.timeout(5000) });
  assert.ok(produced < 30, `${produced} of 60 responses were made for a window of one`);
  const widen = Buffer.alloc(4);
  widen.writeUInt32BE(50_000_000);
  client.socket.write(
    Buffer.concat([SETTINGS_ACK, frame(FRAME.windowUpdate, 0, 0, widen), frame(FRAME.windowUpdate, 0, 1, widen)]),
  );
  assert.ok((await client.reply(1)).message.length > 5_900_000);
});

test('large requests and responses pass whole in both directions', async (t) => {
  const path = await startServer(t);
  const old = await RawClient.open(t, path);
  const text = 'y'.repeat(60_000); // what the server's first window lets through
  const bytes = grpcMessage(toBinary(VersionRequestSchema, create(VersionRequestSchema, { version: text })));
  const parts = Array.from({ length: 4 }, (_, index) => bytes.subarray(index * 16_000, (index + 1) * 16_000));
  const fields = encodeLiterals(requestHeaders('Version', ''));
  old.socket.write(headersFrames(fields, { streamId: 1, endStream: false }));
  for (const [index, part] of parts.entries()) old.socket.write(frame(FRAME.data, index === 3 ? 1 : 0, 1, part));
  assert.equal(fromBinary(VersionResponseSchema, (await old.reply(1)).message).runtimeName, text);

  const client = await connectCri({ runtimeEndpoint: path, logger: silentLogger });
  t.after(() => client.close());
  const long = 'z'.repeat(15 << 20);
  assert.equal((await client.runtime.version({ version: long })).runtimeName.length, long.length);
});
