import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { isCancelled } from '@podwright/base';
import { HTTP2_CONNECT_TIMEOUT_MS } from '../limits.ts';
import { RuntimeService } from '../messages.ts';
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
  return { ...createServiceClient(RuntimeService, connection), connection };
}

/** A peer that does with a connection what a test says, and a client of it. */
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

test('a stream is ended at once by its signal, also while the other side does not read', TIMEOUT, async (t) => {
  const { getContainerEvents, version } = await peer(t, (socket) => {
    socket.write(Buffer.concat([SETTINGS_OF_WIDE_WINDOWS, WIDE_WINDOW]));
    socket.pause();
  });
  const stuck = version({ version: 'x'.repeat(15 << 20) }, { signal: AbortSignal.timeout(300) });
  const controller = new AbortController();
  const events = getContainerEvents({}, { signal: controller.signal })[Symbol.asyncIterator]().next();
  await assert.rejects(stuck, { name: 'TimeoutError' });
  controller.abort(new Error('no more'));
  await assert.rejects(events, { message: 'no more' });
});

test('why a connection cannot be made, or has broken, is told', TIMEOUT, async (t) => {
  const connections = [
    [Buffer.from('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')],
    [SETTINGS_OF_WIDE_WINDOWS, goAway({ lastStreamId: 1, code: 11 })],
  ];
  const { version, port } = await peer(t, (socket) => {
    const answers = connections.shift()!;
    socket.on('data', () => socket.write(answers.shift() ?? Buffer.alloc(0)));
  });
  const connect = new RegExp(`^connect to tcp://127\\.0\\.0\\.1:${port}: \\w`);
  await assert.rejects(version({}), { code: 'unavailable', message: connect });
  const lost = `the connection to tcp://127.0.0.1:${port} was lost: Session closed with error code 11`;
  await assert.rejects(version({}), { code: 'unavailable', message: lost });
});

test('a connection that is being made ends when the client closes', TIMEOUT, async (t) => {
  const { version, connection } = await peer(t, () => connection.close());
  await assert.rejects(version({}, { timeoutMs: Number.POSITIVE_INFINITY }), isCancelled);
});

test('a call of a connection that takes no more is cancelled when the client closes', TIMEOUT, async (t) => {
  const answers = [SETTINGS_OF_WIDE_WINDOWS, goAway({ lastStreamId: 1, code: 0 })];
  const told = Promise.withResolvers<void>();
  const { version, connection } = await peer(t, (socket) => {
    socket.on('data', () => {
      const answer = answers.shift();
      if (answer !== undefined) socket.write(answer);
      if (answers.length === 0) told.resolve();
    });
  });
  const call = assert.rejects(version({}, { timeoutMs: Number.POSITIVE_INFINITY }), isCancelled);
  await told.promise;
  await new Promise((resolve) => setTimeout(resolve, 100)); // nobody else is told that it has come
  connection.close();
  await call;
});

test('a peer that never says that it speaks HTTP/2 is left, and the next call tries anew', TIMEOUT, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { version, server } = await peer(t, () => undefined);
  for (let attempt = 0; attempt < 2; attempt++) {
    const call = version({}, { timeoutMs: Number.POSITIVE_INFINITY });
    await once(server, 'connection');
    t.mock.timers.tick(HTTP2_CONNECT_TIMEOUT_MS);
    await assert.rejects(call, { code: 'unavailable', message: /: no answer for 20 s$/ });
  }
});

test('the authority of an IPv6 address has its brackets', TIMEOUT, async (t) => {
  const server = createHttp2Server();
  server.on('stream', (stream, headers) =>
    stream.respond({ 'grpc-status': 2, 'grpc-message': headers[':authority'] }, { endStream: true }),
  );
  await once(server.listen(0, '::1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { version, connection } = clientOf(t, { port, host: '::1' });
  await assert.rejects(version({}), { message: `[::1]:${port}` });
  connection.close();
});

test('a server of several names hears which of them is called', TIMEOUT, async (t) => {
  const heard: string[] = [];
  const server = createTlsServer({
    SNICallback: (name, done) => {
      heard.push(name);
      done(new Error('no certificate'));
    },
  });
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const host of ['localhost', '127.0.0.1']) {
    const { version } = clientOf(t, { port, host, tls: {} });
    await assert.rejects(version({}), { code: 'unavailable' });
  }
  assert.deepEqual(heard, ['localhost']);
});
