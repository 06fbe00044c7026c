import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { create, toBinary } from '@bufbuild/protobuf';
import { isCancelled } from '@podwright/base';
import { Test, WatchResponseSchema } from '../gen/podwright/test/v1/test_pb.js';
import { headersFrames } from '../http2/frames.ts';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { HTTP2_CONNECT_TIMEOUT_MS } from '../limits.ts';
import { withPrefix } from '../message-reader.ts';
import type { ClientTls } from './channel.ts';
import { Connection } from './connection.ts';
import { createServiceClient } from './service-client.ts';

const SETTINGS_OF_WIDE_WINDOWS = Buffer.from('000006040000000000' + '00047fffffff', 'hex');
const WIDE_WINDOW = Buffer.from('000004080000000000' + '7fff0000', 'hex');
const TIMEOUT = { timeout: 20_000 };

function goAway({ lastStreamId, code }: { lastStreamId: number; code: number }): Buffer {
  const frame = Buffer.from('000008070000000000' + '0000000000000000', 'hex');
  frame.writeUInt32BE(lastStreamId, 9);
  frame.writeUInt32BE(code, 13);
  return frame;
}

function clientOf(t: TestContext, { port, host = '127.0.0.1', tls }: { port: number; host?: string; tls?: ClientTls }) {
  const observer = { started: () => () => undefined };
  const connection = new Connection({ kind: 'tcp', host, port }, { observer, tls });
  t.after(() => connection.close());
  return { ...createServiceClient(Test, connection), connection };
}

/** Starts a peer that handles its connection with `take`, and connects a client to it. */
async function peer(t: TestContext, take: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    take(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { ...clientOf(t, { port }), server, port };
}

test('a stream ends immediately when its signal aborts, even if the peer does not read', TIMEOUT, async (t) => {
  const { watch, echo } = await peer(t, (socket) => {
    socket.write(Buffer.concat([SETTINGS_OF_WIDE_WINDOWS, WIDE_WINDOW]));
    socket.pause();
  });
  const stuck = echo({ text: 'x'.repeat(15 << 20) }, { signal: AbortSignal.timeout(300) });
  const controller = new AbortController();
  const events = watch({}, { signal: controller.signal })[Symbol.asyncIterator]().next();
  await assert.rejects(stuck, { name: 'TimeoutError' });
  controller.abort(new Error('no more'));
  await assert.rejects(events, { message: 'no more' });
});

test('a failed or broken connection is reported with the reason', TIMEOUT, async (t) => {
  const connections = [
    [Buffer.from('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')],
    [SETTINGS_OF_WIDE_WINDOWS, goAway({ lastStreamId: 1, code: 11 })],
  ];
  const { echo, port } = await peer(t, (socket) => {
    const answers = connections.shift()!;
    socket.on('data', () => socket.write(answers.shift() ?? Buffer.alloc(0)));
  });
  const connect = new RegExp(`^connect to tcp://127\\.0\\.0\\.1:${port}: \\w`);
  await assert.rejects(echo({}), { code: 'unavailable', message: connect });
  const lost = `the connection to tcp://127.0.0.1:${port} was lost: Session closed with error code 11`;
  await assert.rejects(echo({}), { code: 'unavailable', message: lost });
});

test('closing the client ends a connection attempt', TIMEOUT, async (t) => {
  const { echo, connection } = await peer(t, () => connection.close());
  await assert.rejects(echo({}, { timeoutMs: Number.POSITIVE_INFINITY }), isCancelled);
});

test('closing the client cancels a call on a connection that has received GOAWAY', TIMEOUT, async (t) => {
  const answers = [SETTINGS_OF_WIDE_WINDOWS, goAway({ lastStreamId: 1, code: 0 })];
  const sent = Promise.withResolvers<void>();
  const { echo, connection } = await peer(t, (socket) => {
    socket.on('data', () => {
      const answer = answers.shift();
      if (answer !== undefined) socket.write(answer);
      if (answers.length === 0) sent.resolve();
    });
  });
  const call = assert.rejects(echo({}, { timeoutMs: Number.POSITIVE_INFINITY }), isCancelled);
  await sent.promise;
  await new Promise((resolve) => setTimeout(resolve, 100)); // no event shows that the client has received it
  connection.close();
  await call;
});

test('a peer that never sends settings is abandoned, and the next call reconnects', TIMEOUT, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { echo, server } = await peer(t, () => undefined);
  for (let attempt = 0; attempt < 2; attempt++) {
    const call = echo({}, { timeoutMs: Number.POSITIVE_INFINITY });
    await once(server, 'connection');
    t.mock.timers.tick(HTTP2_CONNECT_TIMEOUT_MS);
    await assert.rejects(call, { code: 'unavailable', message: /: no answer for 20 s$/ });
  }
});

test('the authority of an IPv6 address has brackets', TIMEOUT, async (t) => {
  const server = createHttp2Server();
  server.on('stream', (stream, headers) =>
    stream.respond({ 'grpc-status': 2, 'grpc-message': headers[':authority'] }, { endStream: true }),
  );
  await once(server.listen(0, '::1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { echo, connection } = clientOf(t, { port, host: '::1' });
  await assert.rejects(echo({}), { message: `[::1]:${port}` });
  connection.close();
});

test('a server with several names receives the requested one (SNI)', TIMEOUT, async (t) => {
  const names: string[] = [];
  const server = createTlsServer({
    SNICallback: (name, done) => {
      names.push(name);
      done(new Error('no certificate'));
    },
  });
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const host of ['localhost', '127.0.0.1']) {
    const { echo } = clientOf(t, { port, host, tls: {} });
    await assert.rejects(echo({}), { code: 'unavailable' });
  }
  assert.deepEqual(names, ['localhost']);
});

test(
  'a request waits for a free stream and for the peer’s windows, and a response for the client’s',
  TIMEOUT,
  async (t) => {
    const server = createHttp2Server({ settings: { initialWindowSize: 1000, maxConcurrentStreams: 1 } });
    let [open, most] = [0, 0];
    server.on('stream', (stream) => {
      most = Math.max(most, ++open);
      const received: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => received.push(chunk));
      stream.on('end', () => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.concat(received)); // EchoResponse has the field of EchoRequest
      });
      stream.on('close', () => open--);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const { echo, connection } = clientOf(t, { port: (server.address() as AddressInfo).port });
    const sent = ['a', 'b', 'c'].map((letter) => letter.repeat(3 << 20));
    const answers = await Promise.all(sent.map((text) => echo({ text: text })));
    assert.deepEqual(
      answers.map(({ text }) => text === sent.shift()),
      [true, true, true],
    );
    assert.equal(most, 1);
    connection.close();
  },
);

test('unread responses of a stream block its sender, but no other call', TIMEOUT, async (t) => {
  const server = createHttp2Server();
  let sentBytes = 0;
  const event = withPrefix(toBinary(WatchResponseSchema, create(WatchResponseSchema, { text: 'x'.repeat(50_000) })));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    if (headers[':path']!.endsWith('/Echo')) return stream.end(withPrefix(Buffer.alloc(0)));
    const more = (error?: Error | null): void => {
      if (error) return;
      sentBytes += event.length;
      stream.write(event, more);
    };
    more();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { echo, watch, connection } = clientOf(t, { port: (server.address() as AddressInfo).port });
  const events = watch({})[Symbol.asyncIterator]();
  await events.next();
  for (let calls = 0; calls < 100; calls++) await echo({});
  assert.ok(sentBytes < 4 << 20, `${sentBytes} bytes`);
  for (let read = 0; read < 100; read++) assert.equal((await events.next()).value?.text.length, 50_000);
  connection.close();
});

const frameOf = (type: number, flags: number, streamId: number, payload = '') => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length / 2, 0, 3);
  head.writeUIntBE((type << 8) | flags, 3, 2);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, Buffer.from(payload, 'hex')]);
};

test('fragmented headers with padding and priority are decoded, and padding is counted', TIMEOUT, async (t) => {
  const status = `00${'0b'}${Buffer.from('grpc-status').toString('hex')}01${Buffer.from('0').toString('hex')}`;
  const type = `0f10${'10'}${Buffer.from('application/grpc').toString('hex')}`;
  const answer = Buffer.concat([
    frameOf(1, 0x4, 1, '08033130300a'.slice(0, 10)), // 100: an informational response
    frameOf(1, 0x8 | 0x20, 1, `02000000000088${''}0000`),
    frameOf(9, 0x4, 1, type),
    frameOf(0, 0x8, 1, '03' + '0000000000' + '000000'),
    frameOf(0xee, 0xff, 1, 'abcd'), // of an unknown type
    frameOf(1, 0x1, 1, status.slice(0, 10)),
    frameOf(9, 0x4, 1, status.slice(10)),
  ]);
  const { echo } = await peer(t, (socket) => {
    socket.write(SETTINGS_OF_WIDE_WINDOWS);
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('test.v1.Test')) for (const byte of answer) socket.write(Buffer.from([byte]));
    });
  });
  assert.equal((await echo({})).text, '');
});

test('the client closes the connection of a peer that violates HTTP/2 or its limits', TIMEOUT, async (t) => {
  const cases: [Buffer[], string][] = [
    [[Buffer.from('ffffff0000000000ff', 'hex')], 'HTTP/2: a frame of 16777215 bytes'],
    [[frameOf(9, 0x4, 1)], 'HTTP/2: a header block torn apart'],
    [[frameOf(1, 0, 1), frameOf(0, 0, 1)], 'HTTP/2: a header block torn apart'],
    [[frameOf(1, 0, 1), frameOf(9, 0, 3)], 'HTTP/2: a malformed header block'],
    [
      [frameOf(1, 0, 1), ...Array.from({ length: 100 }, () => frameOf(9, 0, 1))],
      'HTTP/2: a header block that is too large',
    ],
    [[frameOf(1, 0x4, 1, 'ff')], 'hpack: block ends within a field'],
    [[frameOf(0, 0x8, 1, '05')], 'HTTP/2: padding longer than its frame'],
    [[frameOf(4, 0, 0, '00')], 'HTTP/2: settings cut'],
    [[frameOf(4, 0, 0, '0004ffffffff')], 'HTTP/2: a window that is too large'],
    [[frameOf(8, 0, 0, '7fffffff')], 'HTTP/2: a window that is too large'],
    [[frameOf(5, 0x4, 1, '00000002')], 'HTTP/2: a push, which was not allowed'],
    [[frameOf(3, 0, 1)], ''],
  ];
  const { watch, port } = await peer(t, (socket) => {
    socket.write(SETTINGS_OF_WIDE_WINDOWS);
    let isAnswered = false;
    socket.on('data', (chunk: Buffer) => {
      if (isAnswered || !chunk.includes('test.v1.Test')) return;
      isAnswered = true;
      socket.write(Buffer.concat(cases[0]![0]));
    });
  });
  while (cases.length > 0) {
    const [, expected] = cases[0]!;
    const events = watch({});
    const stream = events[Symbol.asyncIterator]();
    const lost = `the connection to tcp://127.0.0.1:${port} was lost: ${expected}`;
    await assert.rejects(stream.next(), (error: Error) => error.message.startsWith(lost) || assert.fail(error.message));
    cases.shift();
  }
});

test('calls to a peer without a dynamic header table succeed', TIMEOUT, async (t) => {
  const server = createHttp2Server({ settings: { headerTableSize: 0 } });
  const status = { 'grpc-status': '2', 'grpc-message': 'words' };
  server.on('stream', (stream) =>
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { echo } = clientOf(t, { port: (server.address() as AddressInfo).port });
  for (let call = 0; call < 2; call++) await assert.rejects(echo({}), { code: 'unknown', message: 'words' });
});

const GRPC: HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];

test('a call with a long error message does not affect others', TIMEOUT, async (t) => {
  const words = 'a'.repeat(200_000);
  const { echo, connection } = await peer(t, (socket) => {
    socket.write(SETTINGS_OF_WIDE_WINDOWS);
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.includes('Echo')) return;
      const fields = encodeLiterals([...GRPC, ['grpc-status', '2'], ['grpc-message', words]]);
      socket.write(headersFrames(fields, { streamId: 3, endStream: true }));
      const other = encodeLiterals([...GRPC, ['grpc-status', '5'], ['grpc-message', 'none']]);
      socket.write(headersFrames(other, { streamId: 1, endStream: true }));
    });
  });
  const waiting = assert.rejects(createServiceClient(Test, connection).wait({}), { message: 'none' });
  await assert.rejects(echo({}), { code: 'unknown', message: words });
  await waiting;
});

test('the last call on a connection that has received GOAWAY reports its own result', TIMEOUT, async (t) => {
  const { echo } = await peer(t, (socket) => {
    socket.write(SETTINGS_OF_WIDE_WINDOWS);
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('test.v1.Test'))
        socket.write(Buffer.concat([goAway({ lastStreamId: 1, code: 0 }), frameOf(3, 0, 1, '0000000b')]));
    });
  });
  await assert.rejects(echo({}), { code: 'resource_exhausted', message: 'the call was reset, code 11' });
});

test('a peer that closes its sending side counts as disconnected', TIMEOUT, async (t) => {
  const { echo } = await peer(t, (socket) => {
    socket.write(Buffer.concat([SETTINGS_OF_WIDE_WINDOWS, WIDE_WINDOW]));
    socket.once('data', () => socket.pause().end());
  });
  const stuck = echo({ text: 'x'.repeat(15 << 20) }, { timeoutMs: Number.POSITIVE_INFINITY });
  await assert.rejects(stuck, { code: 'unavailable' });
});

test('after its signal aborts, a stream yields no more messages', TIMEOUT, async (t) => {
  const { watch } = await peer(t, (socket) => {
    socket.write(SETTINGS_OF_WIDE_WINDOWS);
    const event = withPrefix(toBinary(WatchResponseSchema, create(WatchResponseSchema)));
    const events = Buffer.concat(Array.from({ length: 1000 }, () => event)).toString('hex');
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('test.v1.Test'))
        socket.write(
          Buffer.concat([frameOf(1, 0x4, 1, encodeLiterals(GRPC).toString('hex')), frameOf(0, 0, 1, events)]),
        );
    });
  });
  const controller = new AbortController();
  let given = 0;
  const read = async () => {
    for await (const _ of watch({}, { signal: controller.signal }))
      if (++given === 1) controller.abort(new Error('no more'));
  };
  await assert.rejects(read(), { message: 'no more' });
  assert.equal(given, 1);
});

test('a peer exceeding the window of an unread stream loses the connection', TIMEOUT, async (t) => {
  const sent = Promise.withResolvers<void>();
  const { watch } = await peer(t, (socket) => {
    socket.write(SETTINGS_OF_WIDE_WINDOWS);
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.includes('test.v1.Test')) return;
      const [begun, more] = ['0000ffffff', '0000000000'].map((text) => frameOf(0, 0, 1, text.padEnd(32_768, '0')));
      socket.write(Buffer.concat([begun!, ...Array.from({ length: 500 }, () => more!)]), () => sent.resolve());
    });
  });
  const events = watch({});
  await sent.promise;
  const readAll = async () => {
    for await (const event of events) assert.equal(event.text, '');
  };
  await assert.rejects(readAll(), { code: 'unavailable', message: /HTTP\/2: more than the window of a stream$/ });
});

test('a peer that floods the client with pings and never reads loses the connection', TIMEOUT, async (t) => {
  const flood = Buffer.concat(Array.from({ length: 1000 }, () => frameOf(6, 0, 0, '00'.repeat(8))));
  const { echo } = await peer(t, (socket) => {
    socket.write(SETTINGS_OF_WIDE_WINDOWS);
    socket.pause();
    const more = (error?: Error | null): void => void (error || socket.write(flood, more));
    more();
  });
  await assert.rejects(echo({}, { timeoutMs: 15_000 }), { code: 'unavailable', message: /HTTP\/2: a flood$/ });
});
