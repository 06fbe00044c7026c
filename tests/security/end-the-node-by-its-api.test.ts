/** The local API is for root only, but even so, no request may stop the node or exhaust its memory. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorMessage, silentLogger, sleep, waitFor, withTimeout } from '@podwright/base';
import { fuzz, pieces } from '../../packages/base/src/fuzz.fixture.ts';
import { NodeClient } from '../../packages/cli/src/client/node-client.ts';
import { LocalServer } from '../../packages/node-api/src/local-server.ts';
import type { NodeBackend } from '../../packages/node-api/src/node-backend.ts';

let directory: string;
let socketPath: string;
let server: LocalServer;
let applied = '';
const uncaught: unknown[] = [];
const note = (error: unknown) => void uncaught.push(error);

before(async () => {
  directory = mkdtempSync('/tmp/hostile-api-');
  socketPath = join(directory, 'node.sock');
  const backend: Partial<NodeBackend> = {
    list: () => [],
    traces: async () => [],
    apply: async (text) => {
      applied = text;
      return { objects: [], findings: [], warnings: [] };
    },
  };
  server = new LocalServer({ socketPath, backend: backend as NodeBackend, logger: silentLogger });
  await server.listen();
  process.on('uncaughtException', note).on('unhandledRejection', note);
});
after(async () => {
  process.off('uncaughtException', note).off('unhandledRejection', note);
  await server.close();
  rmSync(directory, { recursive: true });
});

async function assertServes(): Promise<void> {
  assert.deepEqual(await new NodeClient(socketPath).pods(), []);
  assert.deepEqual(uncaught.map(errorMessage), []);
}

/** Opens a connection to the node's API that sends nothing. */
async function client(): Promise<Socket> {
  const socket = connect(socketPath);
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket.on('error', () => undefined).resume();
}

/** Sends raw bytes to the node's API; returns everything received until the connection closes. */
async function send(text: string | Buffer): Promise<string> {
  const socket = connect(socketPath);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => undefined);
  socket.end(text);
  using deadline = withTimeout(undefined, 30_000, 'wait for the end of the connection');
  await waitFor(() => socket.closed || undefined, { intervalMs: 2, signal: deadline });
  return answer;
}

const get = (target: string, rest = '') => `GET ${target} HTTP/1.1\r\nHost: n\r\nConnection: close\r\n${rest}\r\n`;

test('only the owner may open the socket', () => {
  assert.equal(statSync(socketPath).mode & 0o777, 0o600);
});

test('malformed request targets are refused', async () => {
  for (const target of [
    'http://[/healthz',
    'http://[:/api/v1/pods',
    '//[/healthz',
    'http://%zz/healthz',
    '*',
    '/%zz',
    '/healthz?%',
  ]) {
    const answer = await send(get(target));
    assert.match(answer, /^HTTP\/1\.1 (200|400|404) /, target);
    await assertServes();
  }
  const upgrade = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n';
  for (const target of ['http://[/healthz', '/api/v1/namespaces/%zz/pods/a/exec', '//[', '/'])
    assert.match(await send(`GET ${target} HTTP/1.1\r\nHost: n\r\n${upgrade}\r\n`), /^HTTP\/1\.1 [45]\d\d /, target);
  await assertServes();
});

test('oversized headers are rejected', async () => {
  assert.doesNotMatch(await send(get('/healthz', `X-A: ${'x'.repeat(100_000)}\r\n`)), /^HTTP\/1\.1 200 /);
  await assertServes();
});

test('a body in one-byte chunks is accepted', async () => {
  const count = 100_000;
  const head =
    'POST /podwright/v1/apply HTTP/1.1\r\nHost: n\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
  assert.match(await send(`${head}${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`), /^HTTP\/1\.1 200 /);
  assert.equal(applied, 'x'.repeat(count));
  await new NodeClient(socketPath).apply('y'.repeat((4 << 20) - 1));
  assert.equal(applied.length, (4 << 20) - 1);
});

test('an oversized body is rejected before it is received', async () => {
  await assert.rejects(new NodeClient(socketPath).apply('x'.repeat(5 << 20)));
  await assertServes();
});

test('connections beyond the limit are closed, and the node keeps serving', { timeout: 60_000 }, async () => {
  const sockets: Socket[] = [];
  while (sockets.length < 1100) {
    sockets.push(await client());
    if (sockets.length % 20 === 0) await sleep(1); // the kernel queues only some hundred connections
  }
  using deadline = withTimeout(undefined, 30_000, 'wait for connections to be closed');
  await waitFor(() => sockets.some(({ closed }) => closed) || undefined, { intervalMs: 10, signal: deadline });
  for (const socket of sockets) socket.destroy();
  const serves = () => new NodeClient(socketPath).pods().catch(() => undefined);
  await waitFor(serves, { intervalMs: 10, signal: deadline });
  await assertServes();
});

test('a malformed request closes only the sender’s connection', async () => {
  const samples = [
    get('/api/v1/namespaces/default/pods/a/log?tailLines=1&follow=true'),
    get('/api/v1/pods?watch=true'),
    'DELETE /api/v1/namespaces/default/pods/a?gracePeriodSeconds=1 HTTP/1.1\r\nHost: n\r\n\r\n',
    'POST /podwright/v1/apply HTTP/1.1\r\nHost: n\r\nContent-Length: 10\r\n\r\n0123456789',
    'GET /api/v1/namespaces/d/pods/a/exec?command=x&stdin=1 HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n',
  ].map((text) => Buffer.from(text));
  await fuzz({ samples, rounds: 300 }, async (input, random) => {
    const socket = connect(socketPath).on('error', () => undefined);
    for (const piece of pieces(random, input)) socket.write(piece);
    if (random(2) === 0) socket.end();
    else setImmediate(() => socket.destroy());
  });
  await assertServes();
});
