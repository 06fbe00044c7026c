import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { createWebSocketStream, WebSocket } from 'ws';
import { seededRandom } from '../random.fixture.ts';
import type { StreamChoice } from '../remote-process.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import { descriptors, eventually, ShellServer } from './shell.fixture.ts';

const shells = new ShellServer();
before(() => shells.server.listen());
after(() => shells.server.close());

type Session = { socket: WebSocket; channel: (number: number) => Buffer; closed: Promise<number> };

/** Runs a script over a WebSocket, and collects the messages by channel. */
function open(script: string, protocols: string[], choice: Partial<StreamChoice> = {}): Session {
  const url = shells.shell(script, choice).replace('http:', 'ws:');
  const socket = protocols.length === 0 ? new WebSocket(url) : new WebSocket(url, protocols);
  const channels = new Map<number, Buffer[]>();
  const base64 = protocols[0]?.includes('base64');
  socket.on('message', (data: Buffer, isBinary) => {
    assert.equal(isBinary, !base64);
    const number = base64 ? data[0]! - 0x30 : data[0]!;
    const payload = base64 ? Buffer.from(data.toString('latin1', 1), 'base64') : data.subarray(1);
    channels.set(number, [...(channels.get(number) ?? []), payload]);
  });
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  return { socket, closed, channel: (number) => Buffer.concat(channels.get(number) ?? []) };
}

test('over v5 stdin can be closed separately, and the status is sent', async () => {
  const { socket, channel, closed } = open('cat; echo err >&2; exit 4', ['v5.channel.k8s.io'], { stdin: true });
  await once(socket, 'open');
  const sent = Buffer.alloc(3 << 20, 'abc');
  for (let offset = 0; offset < sent.length; offset += 32 << 10)
    socket.send(Buffer.concat([Buffer.from([0]), sent.subarray(offset, offset + (32 << 10))]));
  socket.send(Buffer.from([255, 0]));
  assert.equal(await closed, 1000);
  assert.ok(channel(1).equals(sent));
  assert.equal(channel(2).toString(), 'err\n');
  assert.match(channel(3).toString(), /"ExitCode","message":"4"/);
});

test('all Kubernetes protocols are supported, and the client chooses', async () => {
  const failure = /^\{.*"ExitCode","message":"2"/;
  const words = /^command terminated with non-zero exit code/;
  for (const [protocols, verdict] of [
    [['v4.channel.k8s.io'], failure],
    [['v4.base64.channel.k8s.io'], failure],
    [['channel.k8s.io'], words],
    [['base64.channel.k8s.io'], words],
    [[], words],
    [['v9', 'v5.channel.k8s.io', 'v4.channel.k8s.io'], failure],
  ] as const) {
    const { socket, channel, closed } = open('read line; echo got $line; exit 2', [...protocols], { stdin: true });
    await once(socket, 'open');
    assert.equal(socket.protocol, protocols.find((name) => name !== 'v9') ?? '');
    const base64 = socket.protocol.includes('base64');
    socket.send(base64 ? `0${Buffer.from('a line\n').toString('base64')}` : Buffer.from('\0a line\n'));
    assert.equal(await closed, 1000);
    assert.equal(channel(1).toString(), 'got a line\n', socket.protocol);
    assert.match(channel(3).toString(), verdict);
  }
});

test('text messages count as bytes, and messages without a channel are ignored', async () => {
  const { socket, channel, closed } = open('read line; echo got $line', ['v4.channel.k8s.io'], { stdin: true });
  await once(socket, 'open');
  for (const junk of [
    Buffer.alloc(0),
    Buffer.from([9, 1]),
    Buffer.from([255, 0]),
    Buffer.from([3]),
    Buffer.from([4, 9]),
  ])
    socket.send(junk);
  socket.send('\0text\n');
  await closed;
  assert.equal(channel(1).toString(), 'got text\n');
});

test('the open connection is announced before any output, sizes are forwarded, and pings are answered', async () => {
  const { socket, channel } = open('exec sleep 60', ['v5.channel.k8s.io'], { tty: true });
  const [first] = (await once(socket, 'message')) as [Buffer];
  assert.deepEqual(first, Buffer.from([1]));
  socket.send(Buffer.from('\x04{"Width":120,"Height":40}'));
  await eventually(() => shells.sizes.includes('120x40'));
  socket.ping('are you there');
  assert.equal(String(await once(socket, 'pong')), 'are you there');
  assert.equal(channel(3).length, 0);
  socket.terminate();
  await eventually(() => shells.live === 0);
});

test('an unsupported protocol and an invalid handshake are rejected', async () => {
  const refused = async (url: string, protocol: string) => {
    const socket = new WebSocket(url.replace('http:', 'ws:'), [protocol]);
    const [error] = (await once(socket, 'error')) as [Error];
    return error.message;
  };
  assert.match(await refused(shells.shell('true'), 'v9.channel.k8s.io'), /403/);
  const ports = shells.server.url({ kind: 'portforward', dial });
  assert.match(await refused(ports, 'v4.channel.k8s.io'), /403/, 'without ports there are no channels');
  const { host, hostname, port, pathname } = new URL(shells.shell('true'));
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 400/);
  socket.destroy();
});

test('a client disconnect is detected even if its input is not read', async () => {
  const { socket } = open('exec sleep 60', ['v5.channel.k8s.io'], { stdin: true });
  await once(socket, 'open');
  await eventually(() => shells.live === 1);
  for (let round = 0; round < 200; round++) socket.send(Buffer.alloc(64 << 10));
  socket.terminate();
  await eventually(() => shells.live === 0);
});

/** Runs one session that ends, or is aborted, at a random moment. */
async function session(random: (below: number) => number): Promise<void> {
  const protocol = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'base64.channel.k8s.io'][random(3)]!;
  const script = ['exec sleep 60', 'echo hello', 'cat', 'yes'][random(4)]!;
  const { socket, closed } = open(script, [protocol], { stdin: random(2) === 0 });
  const timer = setTimeout(() => (random(2) === 0 ? socket.terminate() : socket.close()), random(60));
  await closed;
  clearTimeout(timer);
}

test('opening, aborting and ending two hundred sessions in any order leaks no processes or descriptors', async () => {
  const random = seededRandom(2027);
  await eventually(() => shells.live === 0);
  const before = descriptors();
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, () => session(random)));
  await eventually(() => shells.live === 0 && descriptors() <= before);
});

async function echoServer() {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined).pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { port, [Symbol.dispose]: () => server.close() };
}

const dial = async (port: number) => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
};

test('port-forward works over SPDY in a WebSocket', async () => {
  using echo = await echoServer();
  const url = shells.server.url({ kind: 'portforward', dial }).replace('http:', 'ws:');
  const protocol = 'SPDY/3.1+portforward.k8s.io'; // not a valid token: the library would reject it
  const socket = new WebSocket(url, { headers: { 'Sec-WebSocket-Protocol': protocol } });
  socket.once('upgrade', ({ headers }) => {
    assert.equal(headers['sec-websocket-protocol'], protocol);
    delete headers['sec-websocket-protocol'];
  });
  await once(socket, 'open');
  const connection = new SpdyConnection(createWebSocketStream(socket), { role: 'client' });
  const headers = { port: String(echo.port), requestid: '0' };
  const [error, data] = await Promise.all([
    connection.open({ ...headers, streamtype: 'error' }),
    connection.open({ ...headers, streamtype: 'data' }),
  ]);
  const sent = Buffer.alloc(5 << 20, 'xyz');
  data.end(sent);
  const chunks: Buffer[] = [];
  for await (const chunk of data as AsyncIterable<Buffer>) chunks.push(chunk);
  assert.ok(Buffer.concat(chunks).equals(sent));
  error.end();
  connection.close();
  await connection.closed;
});

test('the oldest port-forward protocol has two channels per port, which start with the port number', async () => {
  using echo = await echoServer();
  const ports = [echo.port, 1];
  const url = shells.server.url({ kind: 'portforward', dial, ports }).replace('http:', 'ws:');
  const socket = new WebSocket(url, ['v4.channel.k8s.io']);
  const channels = new Map<number, Buffer>();
  socket.on('message', (data: Buffer) => {
    channels.set(data[0]!, Buffer.concat([channels.get(data[0]!) ?? Buffer.alloc(0), data.subarray(1)]));
  });
  await once(socket, 'open');
  socket.send(Buffer.from('\0hello'));
  await eventually(() => channels.get(0)?.length === 7 && (channels.get(3)?.length ?? 0) > 2);
  assert.deepEqual([...channels.keys()].sort(), [0, 1, 2, 3]);
  assert.deepEqual(
    [0, 1, 2, 3].map((number) => channels.get(number)!.readUInt16LE(0)),
    [echo.port, echo.port, 1, 1],
  );
  assert.equal(channels.get(0)!.toString('utf8', 2), 'hello');
  assert.match(channels.get(3)!.toString('utf8', 2), /connection refused/);
  socket.close();
  await once(socket, 'close');
});
