/** Sends malformed requests to the HTTPS API, or connects without sending a request. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { waitFor } from '@podwright/base';
import { MAX_WAITING_HEAD_BYTES, MAX_WAITING_REQUESTS, REQUEST_HEAD_TIMEOUT_MS } from './limits.ts';
import { serveApi, type TestApi } from './served-api.fixture.ts';

const POD = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, uid: '1234'}
spec:
  containers: [{name: server, image: 'busybox:1'}]
`;

const withHead = (request: string, ...lines: string[]) =>
  `${[`${request} HTTP/1.1`, 'host: x', ...lines].join('\r\n')}\r\n\r\n`;
const LAST = 'connection: close';
const SPDY = ['connection: upgrade', 'upgrade: SPDY/3.1'];

/** Sends bytes on a connection, waits until the server has closed it, and returns the statuses of all responses. */
async function statuses(t: TestContext, { port }: TestApi, text: string): Promise<number[]> {
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
  t.after(() => socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (more: string) => {
    received += more;
  });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.write(text, 'latin1');
  await waitFor(() => socket.closed || undefined, { intervalMs: 1, signal: AbortSignal.timeout(30_000) });
  return answered(received);
}

const answered = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

const PIPELINED = 90;
const GET_PODS = withHead('GET /pods');

/** Requests as sent, and the statuses that an authenticated and an unauthenticated client get for each. */
const REQUESTS: [what: string, text: string, known: number[], unknown: number[]][] = [
  ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', [200], [401]],
  ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', [400], [400]],
  ['HTTP/2 unasked', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400], [400]],
  ['bytes that are not HTTP', '\x80\x00\xff'.repeat(100), [400], [400]],
  ['a tunnel', withHead('CONNECT example:80'), [], []],
  [
    'pipelining',
    GET_PODS.repeat(PIPELINED) + withHead('GET /pods', LAST),
    Array<number>(PIPELINED + 1).fill(200),
    [401],
  ],
  ['two lengths', `${withHead('POST /pods', 'content-length: 4', 'content-length: 5')}abcd`, [400], [400]],
  [
    'a request hidden in the body of another',
    `${withHead('POST /pods', 'content-length: 4', 'transfer-encoding: chunked')}0\r\n\r\n${GET_PODS}`,
    [400],
    [400],
  ],
  ['a broken chunk', `${withHead('POST /healthz', 'transfer-encoding: chunked')}zz\r\n`, [400], [400]],
  ['a zero byte in a field', withHead('GET /pods', 'x: a\0b'), [400], [400]],
  ['many fields', withHead('GET /pods', ...Array<string>(60_000).fill('a: b')), [431], [431]],
  [
    'many words of a command',
    withHead(`POST /exec/shop/web/none?output=1${'&command=a'.repeat(20_000)}`, LAST),
    [500],
    [401],
  ],
  ['exec', withHead('POST /exec/shop/web/none?output=1', ...SPDY), [500], [401]],
  ['exec in a pod that does not exist', withHead('POST /exec/shop/none/x?output=1', ...SPDY), [404], [401]],
  ['exec at the end of a pipeline', GET_PODS + withHead('POST /exec/shop/none/x?output=1', ...SPDY), [200, 404], [401]],
  ['an unknown protocol', withHead('GET /pods', 'connection: upgrade, close', 'upgrade: h2c'), [200], [401]],
  ['a container by a path', withHead('GET /containerLogs/shop/web/..%2f..%2f..%2fetc%2fpasswd', LAST), [404], [401]],
  ['a pod by a path', withHead('GET /containerLogs/shop/..%2f..%2fweb/server', LAST), [404], [401]],
  ['a namespace by a path', withHead('GET /containerLogs/..%2f..%2f/web/server', LAST), [404], [401]],
  ['a path up to another', withHead('GET /containerLogs/../pods', LAST), [404], [401]],
  ['a long name', withHead(`GET /containerLogs/shop/web/${'a'.repeat(5000)}`, LAST), [404], [401]],
  ['names of JavaScript', withHead('GET /containerLogs/__proto__/constructor/toString', LAST), [404], [401]],
  ['a path of JavaScript', withHead('GET /__proto__', LAST), [404], [401]],
];

test('malformed requests get one response each, and unauthenticated clients get no data', async (t) => {
  const manifest = POD;
  const known = await serveApi(t, { manifest, authentication: { anonymous: true } });
  const unknown = await serveApi(t, { manifest, authentication: { anonymous: false } });
  for (const { fake } of [known, unknown]) await fake.pod('web', ({ status }) => status?.phase === 'Running');
  for (const [what, text, forKnown, forUnknown] of REQUESTS) {
    assert.deepEqual(await statuses(t, known, text), forKnown, what);
    assert.deepEqual(await statuses(t, unknown, text), forUnknown, `${what}, without credentials`);
  }
  for (const method of ['exec', 'execSync', 'portForward'])
    assert.ok(
      unknown.fake.runtime.calls.every((call) => call.method !== method),
      `${method} was not called`,
    );
  assert.equal((await known.ask('/pods')).status, 200);
});

/** Connects to the API of a kubelet with a running pod. Returns the connection and the text received on it. */
async function connected(t: TestContext) {
  const api = await serveApi(t, { manifest: POD });
  await api.fake.pod('web', ({ status }) => status?.phase === 'Running');
  const socket = connectTls({ host: '127.0.0.1', port: api.port, rejectUnauthorized: false });
  t.after(() => socket.destroy());
  const received = { text: '' };
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      received.text += chunk;
    });
  await once(socket, 'secureConnect');
  return { api, socket, received };
}

/** Connects like `connected` and follows a container's log, so that the response does not end. */
async function following(t: TestContext) {
  const connection = await connected(t);
  const { socket, received } = connection;
  socket.write(withHead('GET /containerLogs/shop/web/server?follow=true'));
  const begins = () => received.text.startsWith('HTTP/1.1 200') || undefined;
  await waitFor(begins, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  return connection;
}

const COMMAND = withHead('POST /run/shop/web/server?cmd=true');
const closed = (socket: Duplex) =>
  waitFor(() => socket.closed || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });

test('a request starts once the previous response has finished, and an upgrade after all responses', async (t) => {
  const { api, socket, received } = await connected(t);
  const commands = () => api.fake.runtime.calls.filter(({ method }) => method === 'execSync').length;
  api.fake.runtime.inject('execSync', { delayMs: 300, times: 1 });
  socket.write(COMMAND + COMMAND + withHead('POST /exec/shop/none/x?output=1', ...SPDY));
  await waitFor(() => commands() === 1 || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  assert.equal((await api.ask('/pods')).status, 200); // by now the server has read the bytes sent earlier
  assert.deepEqual([commands(), received.text], [1, '']);
  await closed(socket);
  assert.equal(commands(), 2);
  assert.deepEqual(answered(received.text), [200, 200, 404]);
});

test('a client that pipelines too many requests behind an unfinished response is disconnected', async (t) => {
  const many = await following(t);
  many.socket.write(GET_PODS.repeat(MAX_WAITING_REQUESTS));
  await closed(many.socket);
  const long = await following(t);
  const large = withHead(`GET /pods?${'a'.repeat(200_000)}`);
  long.socket.write(large.repeat(Math.ceil(MAX_WAITING_HEAD_BYTES / 200_000)));
  await closed(long.socket);
  assert.equal((await long.api.ask('/pods')).status, 200);
});

test('a client that sends nothing, or one byte at a time, is disconnected', async (t) => {
  const api = await serveApi(t);
  const address = { host: '127.0.0.1', port: api.port };
  const secure = () => connectTls({ ...address, rejectUnauthorized: false });
  const clients = { noHandshake: connect(address), noRequest: secure(), slowHead: secure(), slowBody: secure() };
  clients.slowHead.write('GET /pods HTTP/1.1\r\nhost: x\r\nx: ');
  clients.slowBody.write(withHead('POST /run/shop/none/x', 'content-length: 1000'));
  const slow = setInterval(() => {
    clients.slowHead.write('a');
    clients.slowHead.write('GET /pods HTTP/1.1\r\nhost: x\r\nx: ');
    clients.slowBody.write('a');
  }, 200);
  t.after(() => clearInterval(slow));
  const began = performance.now();
  const cutOff = Object.entries(clients).map(async ([name, socket]) => {
    t.after(() => socket.destroy());
    socket.on('error', () => undefined).resume();
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    return name;
  });
  const closed: string[] = [];
  for (const one of cutOff) void one.then((name) => closed.push(name));
  const signal = AbortSignal.timeout(60_000);
  await waitFor(() => closed.length === cutOff.length || undefined, { intervalMs: 20, signal });
  assert.ok(performance.now() - began >= REQUEST_HEAD_TIMEOUT_MS / 2, 'not before its time is up');
  assert.equal((await api.ask('/pods')).status, 200);
});
