import assert from 'node:assert/strict';
import { constants, type ServerHttp2Session } from 'node:http2';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import { createKubeClient, type KubeClientOptions } from '../client/create-kube-client.ts';
import { NODES, PODS } from '../resources.ts';
import { answer, makeCertificate, TestServer, until } from '../test-server.fixture.ts';
import { Http1Connections } from './http1-connections.ts';

const NODE = { metadata: { name: 'n' } };
const PINGS = { afterMs: 50, timeoutMs: 50 };

function connect(server: { url: string; tls: object }, pings?: typeof PINGS, pauses?: KubeClientOptions['pauses']) {
  const client = createKubeClient({ server: server.url, tls: server.tls, pings, pauses });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

/** Starts a server that keeps watches open without sending any events. */
function startServer(options: object = {}) {
  return TestServer.start(
    'h2',
    ({ url }, response) => {
      if (!url.includes('watch=')) return answer(response, 200, NODE);
      response.writeHead(200);
      response.flushHeaders();
    },
    options,
  );
}

/**
 * Opens watches, and returns a list that receives the error code of each watch that fails, or `end` if it ends normally (`undefined`: still
 * open).
 */
async function openWatches(client: ReturnType<typeof connect>, count: number): Promise<(string | undefined)[]> {
  const ends: (string | undefined)[] = Array(count).fill(undefined);
  const opened = Array.from({ length: count }, (_, index) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const watch = async () => {
      const options = { timeoutSeconds: 300, onOpen: resolve };
      for await (const _event of client.watch(PODS, options, new AbortController().signal));
    };
    watch().then(
      () => (ends[index] = 'end'),
      (error: { code?: string }) => (ends[index] = error.code),
    );
    return promise;
  });
  await Promise.all(opened);
  return ends;
}

test('all calls from a client share one connection', async () => {
  await using server = await startServer();
  using client = connect(server);
  await openWatches(client, 30);
  await Promise.all(Array.from({ length: 30 }, () => client.get(NODES, { name: 'n' })));
  assert.equal(server.connections, 1);
});

test('a server with a low concurrency limit gets more connections, which are closed when idle', async () => {
  await using server = await startServer({ settings: { maxConcurrentStreams: 4 } });
  using client = connect(server);
  await openWatches(client, 10);
  assert.equal(server.connections, 3);
  await Promise.all(Array.from({ length: 20 }, () => client.get(NODES, { name: 'n' })));
  await until(() => server.sockets.size === 3);
});

test('a server that accepts no calls is unavailable', async () => {
  await using server = await startServer({ settings: { maxConcurrentStreams: 0 } });
  using client = connect(server);
  await assert.rejects(client.get(NODES, { name: 'n' }, { timeoutMs: 20_000 }), {
    code: 'unavailable',
    message: /the server accepts no calls/,
  });
  assert.equal(server.connections, 1);
});

test('a dead connection is abandoned after a ping, and the next call reconnects', async () => {
  await using server = await startServer();
  const relayed: Socket[] = [];
  await using relay = await serveBytes('http', (socket) => {
    const onward = connectSocket(server.port, '127.0.0.1');
    onward.on('error', () => undefined);
    socket.pipe(onward).pipe(socket);
    relayed.push(socket, onward);
  });
  using client = connect({ url: relay.url.replace('http:', 'https:'), tls: server.tls }, PINGS);
  const ends = await openWatches(client, 2);
  for (const socket of relayed) socket.unpipe().pause();
  await until(() => ends.every((end) => end === 'unavailable'));
  await client.get(NODES, { name: 'n' });
  assert.equal(server.connections, 2);
  for (const socket of relayed) socket.destroy();
});

test('a silent connection stays open if its peer answers pings', async () => {
  await using server = await startServer();
  let pings = 0;
  server.server.on('session', (session: ServerHttp2Session) => session.on('ping', () => pings++));
  using client = connect(server, { afterMs: 20, timeoutMs: 10_000 });
  const ends = await openWatches(client, 1);
  await until(() => pings >= 3);
  assert.deepEqual([ends, server.connections], [[undefined], 1]);
});

test('on a graceful server shutdown, running calls finish, and the next call reconnects', async () => {
  const sessions: ServerHttp2Session[] = [];
  let finish: (() => void) | undefined;
  await using server = await TestServer.start('h2', ({ url }, response) => {
    if (url.endsWith('/slow')) finish = () => answer(response, 200, NODE);
    else answer(response, 200, NODE);
  });
  server.server.on('session', (session: ServerHttp2Session) => sessions.push(session));
  using client = connect(server);
  const slow = client.get(NODES, { name: 'slow' });
  await until(() => finish !== undefined);
  sessions[0]!.goaway(constants.NGHTTP2_NO_ERROR);
  await until(async () => {
    await client.get(NODES, { name: 'n' });
    return server.connections === 2;
  });
  finish!();
  assert.deepEqual(await slow, NODE);
});

test('reconnect ends running calls and later calls use a new connection, while a closed client rejects', async () => {
  await using server = await startServer();
  using client = connect(server);
  const ends = await openWatches(client, 2);
  client.reconnect();
  await until(() => ends.every((end) => end === 'unavailable'));
  await client.get(NODES, { name: 'n' });
  assert.equal(server.connections, 2);
  client.close();
  await assert.rejects(client.get(NODES, { name: 'n' }), { code: 'cancelled', message: /the client was closed/ });
});

test('a call waiting for a connection uses the new one after reconnect', async () => {
  await using server = await startServer();
  const waiting: (() => void)[] = [];
  const tls = async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return server.tls;
  };
  const client = createKubeClient({ server: server.url, tls });
  const call = client.get(NODES, { name: 'n' });
  await until(() => waiting.length === 1);
  client.reconnect();
  await until(() => waiting.length === 2);
  for (const go of waiting) go();
  assert.deepEqual(await call, NODE);
  assert.equal(server.connections, 1);
  client.close();
});

test('watches over HTTP/1.1 need one connection each, but do not block calls', async () => {
  await using server = await TestServer.start('http', ({ url }, response) => {
    if (url === '/watch') return void response.writeHead(200).flushHeaders();
    answer(response, 200, NODE);
  });
  const connections = new Http1Connections(
    { protocol: 'http:', host: '127.0.0.1', port: server.port },
    {},
    { calls: 1, watches: 2 },
  );
  const { signal } = new AbortController();
  const send = (path: string, isLong?: true) =>
    connections.send({ method: 'GET', path, headers: {}, isLong }, signal).then(({ body }) => body);
  await Promise.all([send('/watch', true), send('/watch', true)]);
  for (let calls = 0; calls < 3; calls++) assert.deepEqual(JSON.parse(await text(await send('/call'))), NODE);
  assert.equal(server.connections, 3);
  connections.destroy();
});

test('a changed certificate is used for the next connection', async () => {
  const certificates = ['first', 'second'].map((name) => makeCertificate(name));
  await using server = await TestServer.start('h2', (_request, response) => answer(response, 200, NODE), {
    requestCert: true,
    rejectUnauthorized: false,
  });
  const subjects: string[] = [];
  server.server.on('secureConnection', (socket) => subjects.push(socket.getPeerCertificate().subject.CN));
  const tls = () => ({ ...server.tls, ...certificates[subjects.length]! });
  const client = createKubeClient({ server: server.url, tls });
  await client.get(NODES, { name: 'n' });
  client.reconnect();
  await client.get(NODES, { name: 'n' });
  assert.deepEqual(subjects, ['first', 'second']);
  client.close();
});

/** Starts a server that sends raw bytes, over TLS with HTTP/2 or without TLS. */
async function serveBytes(kind: 'h2' | 'http', serve: (socket: Socket) => void) {
  const pair = makeCertificate();
  const take = (socket: Socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  };
  const server =
    kind === 'http'
      ? createServer(take)
      : createTlsServer({ cert: pair.certificate, key: pair.key, ALPNProtocols: ['h2'] }, take);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${kind === 'http' ? 'http' : 'https'}://127.0.0.1:${port}`,
    tls: { ca: pair.certificate },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function flood(socket: Socket, bytes: Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', write);
  write();
}

const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** HTTP/2 frames: HEADERS without END_HEADERS for stream 1, and a CONTINUATION with literal header fields. */
const OPEN_HEADERS = Buffer.from([0, 0, 1, 1, 0, 0, 0, 0, 1, 0x88]);
const MORE_HEADERS = Buffer.concat([
  Buffer.from([0, 0, 8, 9, 0, 0, 0, 0, 1]),
  Buffer.from([0x00, 3, 0x61, 0x61, 0x61, 2, 0x62, 0x62]),
]);

const HOSTILE: [what: string, kind: 'h2' | 'http', serve: (socket: Socket) => void][] = [
  [
    'endless headers over HTTP/1.1',
    'http',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, Buffer.from(`x: ${'y'.repeat(1000)}\r\n`));
    },
  ],
  ['an endless status line', 'http', (socket) => flood(socket, Buffer.alloc(4096, 'x'))],
  ['garbage over HTTP/1.1', 'http', (socket) => socket.end('hello\r\n\r\n')],
  ['an immediate end over HTTP/1.1', 'http', (socket) => socket.end()],
  ['garbage over HTTP/2', 'h2', (socket) => flood(socket, Buffer.alloc(4096, 'x'))],
  ['an immediate end over HTTP/2', 'h2', (socket) => socket.end()],
  [
    'endless headers over HTTP/2',
    'h2',
    (socket) => {
      socket.write(SETTINGS);
      socket.once('data', () =>
        setTimeout(() => {
          socket.write(OPEN_HEADERS);
          flood(socket, MORE_HEADERS);
        }, 50),
      );
      socket.resume();
    },
  ],
];

for (const [what, kind, serve] of HOSTILE) {
  test(`a server that sends ${what} is unavailable`, async () => {
    await using server = await serveBytes(kind, serve);
    using client = connect(server);
    await assert.rejects(client.update(NODES, NODE, { timeoutMs: 20_000 }), { code: 'unavailable' });
  });
}

/** The GOAWAY frame, without an error, of a server that has not processed any calls. */
const GOAWAY = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

const LEAVING: [what: string, leave: (socket: Socket) => void][] = [
  ['settings and GOAWAY', (socket) => socket.write(Buffer.concat([SETTINGS, GOAWAY]))],
  ['GOAWAY without settings', (socket) => socket.write(GOAWAY)],
  ['settings and an end', (socket) => socket.end(SETTINGS)],
  [
    'settings, and GOAWAY after the first request',
    (socket) => {
      socket.write(SETTINGS);
      socket.once('data', () => setTimeout(() => socket.end(GOAWAY), 5));
    },
  ],
];

for (const [what, leave] of LEAVING) {
  test(`a server that only sends ${what} is reconnected to with a backoff, and used once it stays`, async () => {
    await using good = await startServer();
    let connections = 0;
    let isLeaving = true;
    const serve = (socket: Socket) => {
      connections++;
      socket.resume();
      leave(socket);
    };
    await using server = await serveBytes('h2', serve);
    await using balancer = await serveBytes('http', (socket) => {
      const onward = connectSocket(isLeaving ? Number(new URL(server.url).port) : good.port, '127.0.0.1');
      onward.on('error', () => undefined);
      onward.on('close', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    const url = balancer.url.replace('http:', 'https:');
    const tls = { insecureSkipTlsVerify: true };
    using client = connect({ url, tls }, undefined, { initialMs: 100, maxMs: 400 });
    const endAt = performance.now() + 500;
    const callers = Array.from({ length: 10 }, async () => {
      while (performance.now() < endAt) {
        const error = await client.update(NODES, NODE, { timeoutMs: 450 }).catch((reason: PodwrightError) => reason);
        assert.ok(error instanceof PodwrightError && ['unavailable', 'deadline_exceeded'].includes(error.code));
      }
    });
    await Promise.all(callers);
    assert.ok(connections >= 2 && connections <= 8, `${connections} connections`);
    isLeaving = false;
    assert.deepEqual(await client.update(NODES, NODE).catch(() => client.update(NODES, NODE)), NODE);
  });
}

test('a server that never completes the handshake fails the call at its deadline', async () => {
  for (const kind of ['h2', 'http'] as const) {
    await using server = await serveBytes(kind, () => undefined);
    using client = connect(server);
    await assert.rejects(client.get(NODES, { name: 'n' }, { timeoutMs: 200 }), { code: 'deadline_exceeded' });
  }
});

test('closing a client ends a connection on which the server has not sent anything', async () => {
  const [opened, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using server = await serveBytes('h2', (socket) => {
    opened.resolve();
    socket.once('close', () => closed.resolve()).resume();
  });
  const client = connect(server);
  await assert.rejects(client.get(NODES, { name: 'n' }, { timeoutMs: 200 }), { code: 'deadline_exceeded' });
  await opened.promise;
  client.close();
  using signal = withTimeout(undefined, 10_000, 'wait for the end of the connection');
  await raceAbort(closed.promise, signal);
});
