import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connect2 } from 'node:http2';
import { type AddressInfo, connect, type Server as NetServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { waitFor } from '@podwright/base';
import { eventsOf, open, send, WAYS } from './test-client.fixture.ts';
import { testFlows } from './test-flows.fixture.ts';
import { TestServer } from './test-server.fixture.ts';

const PODS = '/api/v1/namespaces/x/pods';
const [LOCAL, HTTP1, HTTP2] = WAYS;
const HANGS = { list: () => new Promise<never>(() => undefined) };

const until = (isTrue: () => boolean) =>
  waitFor(() => isTrue() || undefined, { intervalMs: 5, signal: AbortSignal.timeout(5000) });

test('limits a user’s requests in flight, and counts watches separately', async () => {
  await using server = await TestServer.start({
    resource: HANGS,
    flowControl: testFlows(2),
    maxLongRunning: 1,
  });
  const hanging = open(server, HTTP2, { path: PODS, user: 'alice' }).catch(() => undefined);
  await until(() => server.authorized.length === 1);
  const watch = await open(server, HTTP2, { path: '/api/v1/namespaces/x/secrets?watch=1', user: 'alice' });
  const check = async (path: string, user: string, status: number) => {
    const answer = await send(server, HTTP1, { path, user });
    assert.equal(answer.status, status);
    return answer;
  };
  const refused = await check('/livez', 'alice', 429);
  assert.deepEqual([refused.headers['retry-after'], refused.json().reason], ['1', 'TooManyRequests']);
  const { headers } = refused;
  const uids = [headers['x-kubernetes-pf-flowschema-uid'], headers['x-kubernetes-pf-prioritylevel-uid']];
  assert.deepEqual(uids, ['uid-of-schema', 'uid-of-level']);
  await check('/api/v1/pods?watch=1', 'alice', 429);
  await check('/livez', 'bob', 200);
  void open(server, HTTP2, { path: PODS, user: 'root' }).catch(() => undefined);
  await until(() => server.authorized.length === 4);
  await check('/livez', 'root', 200);
  watch.close();
  await server.listeners.stop(0);
  await hanging;
});

test('a watch with a long selector, which needs memory, counts as many', async () => {
  await using server = await TestServer.start({ maxLongRunning: 10 });
  const selector = Array.from({ length: 1000 }, (_, index) => `k${index}!=v`).join(',');
  const watch = (labelSelector: string) => `${PODS}?${new URLSearchParams({ watch: '1', labelSelector })}`;
  const first = await open(server, HTTP2, { path: watch(selector), user: 'alice' });
  assert.equal((await send(server, HTTP1, { path: watch(selector), user: 'alice' })).status, 429);
  const short = await open(server, HTTP2, { path: watch('app=web'), user: 'alice' });
  for (const one of [first, short]) one.close();
});

test('a user with many requests gets at most half of the seats, and the excess is rejected at once', async () => {
  await using server = await TestServer.start({ resource: HANGS, flowControl: testFlows(4, 3) });
  const statuses: number[] = [];
  const greedy = Array.from({ length: 40 }, () =>
    open(server, HTTP2, { path: PODS, user: 'alice' }).then(
      ({ status, close }) => {
        statuses.push(status);
        close();
      },
      () => undefined,
    ),
  );
  await until(() => statuses.length === 35);
  assert.deepEqual(new Set(statuses), new Set([429]));
  assert.equal(server.authorized.length, 2);
  for (const user of ['bob', 'carol']) assert.equal((await send(server, HTTP1, { path: '/livez', user })).status, 200);
  await server.listeners.stop(0);
  await Promise.all(greedy);
});

test('a user with many connections cannot lock out others', async () => {
  await using server = await TestServer.start({ resource: HANGS, callerLimits: { total: 2, perCaller: 2 } });
  for (const way of [HTTP1, HTTP2]) void open(server, way, { path: PODS, user: 'alice' }).catch(() => undefined);
  await until(() => server.authorized.length === 2);
  for (const way of [HTTP1, HTTP2]) {
    const { status, headers } = await send(server, way, { path: '/livez', user: 'alice' });
    assert.deepEqual([status, headers['retry-after']], [429, '1']);
    assert.equal((await send(server, way, { path: '/livez', user: 'bob' })).status, 200);
  }
});

test('ends a request when its timeout expires', async () => {
  await using server = await TestServer.start({ resource: HANGS });
  const late = await send(server, LOCAL, { path: `${PODS}?timeout=50ms` });
  assert.deepEqual(
    [late.status, late.json().reason, late.json().message],
    [504, 'Timeout', 'Timeout: request did not complete within the allotted timeout'],
  );
  const wrong = await send(server, LOCAL, { path: `${PODS}?timeout=1x` });
  assert.deepEqual(
    [wrong.status, wrong.json().message],
    [400, 'invalid timeout specified in the request URL - time: invalid duration "1x"'],
  );
  // sends only the start of the body and then neither continues nor disconnects
  const socket = connect(server.socketPath);
  socket.write(`POST ${PODS}?timeout=50ms HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{`);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 504 /);
  socket.destroy();
});

test('never interprets a name as a path or another name', async () => {
  await using server = await TestServer.start();
  const message = async (path: string) => {
    const { status, json } = await send(server, LOCAL, { path });
    return [status, json().message];
  };
  assert.deepEqual(await message(`${PODS}/..`), [400, `Name parameter invalid: "..": may not be '..'`]);
  assert.deepEqual(await message('/api/v1/namespaces/../pods'), [
    400,
    `Namespace parameter invalid: "..": may not be '..'`,
  ]);
  assert.deepEqual(await message(`${PODS}/a%252Fb`), [400, `Name parameter invalid: "a%2Fb": may not contain '%'`]);
  assert.deepEqual(await message(`${PODS}/__proto__`), [404, 'pods "__proto__" not found']);
  assert.equal((await send(server, LOCAL, { path: `${PODS}/%` })).status, 400);
  assert.equal((await send(server, LOCAL, { path: `${PODS}/a%2Flog` })).status, 404);
  assert.deepEqual(server.authorized.at(-1), 'system:admin get pods/log x/a');
});

test('closes TLS connections on which no user authenticates', async () => {
  await using server = await TestServer.start({ maxUnauthenticatedMs: 100 });
  const idle = connectTls({ port: server.port, host: '127.0.0.1', ca: server.certificate });
  const closed = once(idle, 'close');
  await once(idle, 'secureConnect');
  const session = connect2(`https://127.0.0.1:${server.port}`, { ca: server.certificate });
  const stream = session.request({ ':path': '/livez', authorization: 'Bearer token-alice' });
  await once(stream.resume(), 'end');
  await closed;
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(session.destroyed, false);
  session.destroy();
});

test('ends a watch when its client closes its side of the connection', async () => {
  let ended = false;
  const resource = {
    async *watch({ signal }: { signal?: AbortSignal }) {
      await once(signal!, 'abort');
      ended = true;
      yield [];
    },
  };
  await using server = await TestServer.start({ resource });
  const socket = connect(server.socketPath);
  socket.write(`GET ${PODS}?watch=1 HTTP/1.1\r\nhost: a\r\n\r\n`);
  await once(socket, 'data');
  socket.end();
  await until(() => ended);
});

test('does not log client disconnects', async () => {
  await using server = await TestServer.start({ resource: HANGS });
  for (const way of WAYS) {
    const before = server.authorized.length;
    void open(server, way, { path: PODS }).catch(() => undefined);
    await until(() => server.authorized.length > before);
  }
  const socket = connect(server.socketPath);
  socket.write(`POST ${PODS} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{`);
  await until(() => server.authorized.length === 4);
  socket.destroy();
  await server.listeners.stop(0);
  assert.deepEqual(server.errors, []);
});

test('rejects oversized headers', async () => {
  await using server = await TestServer.start();
  const headers = { 'x-large': 'x'.repeat(100_000) };
  assert.equal((await send(server, LOCAL, { path: '/livez', headers })).status, 431);
  await assert.rejects(send(server, HTTP1, { path: '/livez', headers }));
  assert.equal((await send(server, HTTP2, { path: '/livez' })).status, 200);
});

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const SETTINGS = frame(4, 0, 0, Buffer.alloc(0));

/** HPACK-encoded header block of the request `GET /` for host `a`. All fields except the host are in HPACK's static table. */
const GET = Buffer.concat([Buffer.from([0x82, 0x84, 0x87, 0x41, 0x01]), Buffer.from('a')]);

/** Sends HTTP/2 frames without reading. Resolves once the server has closed the connection. */
async function flood(server: TestServer, frames: Iterable<Buffer>): Promise<void> {
  const socket = connectTls({
    port: server.port,
    host: '127.0.0.1',
    ca: server.certificate,
    ALPNProtocols: ['h2'],
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), SETTINGS]));
  for (const one of frames) {
    if (socket.destroyed || socket.readableEnded) break;
    if (!socket.write(one)) await new Promise((resolve) => setImmediate(resolve));
  }
  socket.resume();
  await closed;
}

test('closes flooding HTTP/2 connections, and serves others', async () => {
  await using server = await TestServer.start();
  const resets = function* () {
    for (let stream = 1; stream < 200_000; stream += 2)
      yield Buffer.concat([frame(1, 5, stream, GET), frame(3, 0, stream, Buffer.from([0, 0, 0, 8]))]);
  };
  await flood(server, resets());
  assert.ok(server.authentications < 5000, `served ${server.authentications} requests of a flood`);
  await flood(server, Array<Buffer>(20).fill(Buffer.concat(Array<Buffer>(5000).fill(SETTINGS))));
  const pings = Buffer.concat(Array<Buffer>(5000).fill(frame(6, 0, 0, Buffer.alloc(8))));
  await flood(server, Array<Buffer>(20).fill(pings));
  assert.equal((await send(server, HTTP2, { path: '/livez' })).status, 200);
});

test('stops even if requests hang, and removes its socket', async () => {
  await using server = await TestServer.start({ resource: HANGS });
  const watch = await open(server, HTTP2, { path: '/api/v1/namespaces/x/secrets?watch=1' });
  const hanging = open(server, LOCAL, { path: PODS }).catch(() => undefined);
  await until(() => server.authorized.length === 2);
  await server.listeners.stop(50);
  await assert.rejects(once(connect(server.socketPath), 'connect'), { code: 'ENOENT' });
  assert.equal((await eventsOf(watch.body).next()).done, true);
  await hanging;
});

test('reports the TLS port, and only connections of authenticated users', async () => {
  const listening: unknown[] = [];
  const authenticated: (number | undefined)[] = [];
  const strangers = {
    onListening: (listener: NetServer) => listening.push((listener.address() as AddressInfo).port),
    onAuthenticated: ({ remotePort }: Socket) => authenticated.push(remotePort),
  };
  await using server = await TestServer.start({ strangers });
  assert.deepEqual(listening, [server.port]);
  for (const way of [HTTP1, HTTP2]) {
    assert.equal((await send(server, way, { path: '/livez', user: '' })).status, 401);
    assert.deepEqual(authenticated, []);
    assert.equal((await send(server, way, { path: '/livez', user: 'alice' })).status, 200);
    assert.ok(authenticated.pop()! > 0);
  }
  await send(server, LOCAL, { path: '/livez' });
  assert.deepEqual(authenticated, []);
});
