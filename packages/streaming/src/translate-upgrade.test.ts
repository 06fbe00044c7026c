import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createNetServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { proxyUpgrade } from './proxy-upgrade.ts';
import type { StreamChoice } from './remote-process.ts';
import type { TranslatedCall } from './serve-translated.ts';
import { descriptors, eventually, ShellServer } from './server/shell.fixture.ts';
import { needsTranslation, translateUpgrade } from './translate-upgrade.ts';
import { connectTunnel, WebSocketVisitor } from './websocket-client.fixture.ts';

const PROTOCOL = 'v5.channel.k8s.io';
const shells = new ShellServer();

/** A streaming server of an older runtime, which rejects WebSockets. */
const oldRuntime = createServer();
oldRuntime.on('upgrade', (request, socket, head) => {
  if (request.headers.upgrade !== 'SPDY/3.1') return socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
  return proxyUpgrade(request, { socket, head }, { url: `${base}${request.url}` });
});
let base = '';

const front = createServer();
const translated: boolean[] = [];
front.on('upgrade', (request, socket, head) => {
  const call = JSON.parse(decodeURIComponent(request.url!.slice(1))) as TranslatedCall;
  translated.push(needsTranslation(request, call.kind));
  translateUpgrade({ request, socket, head }, call).catch(() => socket.destroy());
});

before(async () => {
  await shells.server.listen();
  base = new URL(shells.server.url({ kind: 'portforward', dial: () => assert.fail() })).origin;
  for (const server of [oldRuntime, front])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  for (const server of [oldRuntime, front]) server.close();
  await shells.server.close();
});

const originOf = (server: typeof front) => `http://127.0.0.1:${(server.address() as { port: number }).port}`;
const through = (call: TranslatedCall) => `${originOf(front)}/${encodeURIComponent(JSON.stringify(call))}`;
const atOldRuntime = (url: string) => url.replace(base, originOf(oldRuntime));

function command(script: string, given: Partial<StreamChoice> = {}): string {
  const choice = { stdin: false, stdout: true, stderr: true, tty: false, ...given };
  return through({ kind: 'exec', choice, url: atOldRuntime(shells.shell(script, choice)) });
}

test('a command on a runtime without v5 supports closing the input, both outputs and the exit code', async () => {
  const visitor = new WebSocketVisitor(command('cat; echo err >&2; exit 9', { stdin: true }), PROTOCOL);
  const sent = Buffer.alloc(4 << 20, 'abc');
  await visitor.write(sent, { end: true });
  assert.equal(await visitor.exitCode(), 9);
  assert.ok(visitor.received('stdout').equals(sent));
  assert.equal(visitor.received('stderr').toString(), 'err\n');
  assert.equal(translated.at(-1), true);
});

test('terminal sizes reach the command', async () => {
  const visitor = new WebSocketVisitor(command('read x', { stdin: true, stderr: false, tty: true }), PROTOCOL);
  await visitor.resize({ Width: 132, Height: 43 });
  await eventually(() => shells.sizes.includes('132x43'));
  visitor.leave();
  await eventually(() => shells.live === 0);
});

test('the error is reported if a command cannot be run', async () => {
  const choice = { stdin: false, stdout: true, stderr: true, tty: false };
  const url = atOldRuntime(`${base}/exec/unknown`);
  const visitor = new WebSocketVisitor(through({ kind: 'exec', choice, url }), PROTOCOL);
  await visitor.closed;
  assert.match(
    visitor.received('error').toString(),
    /"status":"Failure".*this URL is unknown, already used or expired/,
  );
});

test('a client disconnect ends the command and closes everything', async () => {
  await eventually(() => shells.live === 0);
  const open = descriptors();
  for (let round = 0; round < 10; round++) {
    const visitor = new WebSocketVisitor(command('yes'), PROTOCOL);
    await eventually(() => visitor.received('stdout').length > 0);
    visitor.leave();
  }
  await eventually(() => shells.live === 0 && descriptors() <= open);
});

test('ports are forwarded through a tunnel', async () => {
  const echo = createNetServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const dial = async (port: number) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  };
  const url = atOldRuntime(shells.server.url({ kind: 'portforward', dial }));
  const connection = await connectTunnel(through({ kind: 'portforward', url }));
  const port = String((echo.address() as { port: number }).port);
  const error = await connection.open({ streamtype: 'error', port, requestid: '0' });
  error.end();
  const data = await connection.open({ streamtype: 'data', port, requestid: '0' });
  data.end('there and back');
  assert.equal(await text(data), 'there and back');
  connection.destroy();
  echo.close();
});

test('only protocols unsupported by older runtimes are translated', () => {
  const asks = (upgrade: string, protocols: string, kind: TranslatedCall['kind'] = 'exec') =>
    needsTranslation({ headers: { upgrade, 'sec-websocket-protocol': protocols } } as never, kind);
  assert.equal(asks('websocket', 'v5.channel.k8s.io'), true);
  assert.equal(asks('WebSocket', 'v4.channel.k8s.io, v5.channel.k8s.io'), true);
  assert.equal(asks('websocket', 'SPDY/3.1+portforward.k8s.io', 'portforward'), true);
  assert.equal(
    asks('websocket', 'v5.channel.k8s.io, v4.channel.k8s.io', 'portforward'),
    false,
    'as JavaScript’s client',
  );
  assert.equal(asks('websocket', 'v4.channel.k8s.io'), false);
  assert.equal(asks('SPDY/3.1', 'v5.channel.k8s.io'), false);
});

test('an unreachable runtime ends the tunnel before it starts', async () => {
  const socket = new WebSocket(through({ kind: 'portforward', url: 'http://127.0.0.1:1/x' }).replace('http', 'ws'));
  const [error] = (await once(socket, 'error')) as [Error];
  assert.match(error.message, /hang up/);
});
