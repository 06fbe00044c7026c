import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { Duplex, PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { runRemoteCommand } from './client/remote-command.ts';
import { joinConnections, proxyUpgrade } from './proxy-upgrade.ts';
import { seededRandom } from './random.fixture.ts';
import { collect, descriptors, eventually, ShellServer } from './server/shell.fixture.ts';

const shells = new ShellServer();
const proxy = createServer();
proxy.on('upgrade', (request, socket, head) =>
  proxyUpgrade(request, { socket, head }, { url: decodeURIComponent(request.url!.slice(1)) }),
);
before(async () => {
  await shells.server.listen();
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  proxy.close();
  await shells.server.close();
});

/** Returns the proxy's URL for reaching `url` through it. */
function through(url: string): string {
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/${encodeURIComponent(url)}`;
}

test('a command runs through the proxy with its entire input, its output and its exit code', async () => {
  const sent = Buffer.alloc(20 << 20, 'abc');
  const { exitCode, out, err } = await collect(
    { url: through(shells.shell('cat; echo err >&2; exit 9', { stdin: true })) },
    sent,
  );
  assert.deepEqual([exitCode, out.equals(sent), err], [9, true, 'err\n']);
});

test('a slow client receives all output', async () => {
  const stdout = new PassThrough();
  const url = through(shells.shell('head -c 8000000 /dev/zero', { stderr: false }));
  const running = runRemoteCommand({ url }, { stdout, tty: false });
  await eventually(() => shells.live === 1);
  let read = 0;
  stdout.on('data', (chunk: Buffer) => {
    read += chunk.length;
    stdout.pause();
    setTimeout(() => stdout.resume(), 1);
  });
  assert.equal(await running, 0);
  await eventually(() => read === 8_000_000);
});

test('WebSockets are proxied too', async () => {
  const socket = new WebSocket(through(shells.shell('echo hello', {})).replace('http:', 'ws:'), ['v5.channel.k8s.io']);
  const received: string[] = [];
  socket.on('message', (data: Buffer) => received.push(data.toString()));
  await once(socket, 'close');
  assert.ok(received.includes('\x01hello\n'), received.join());
});

test('a client disconnect ends the command behind the proxy', async () => {
  const cut = new AbortController();
  const io = { stdout: new PassThrough(), stderr: new PassThrough(), tty: false };
  const running = runRemoteCommand({ url: through(shells.shell('yes')) }, io, cut.signal);
  await eventually(() => shells.live === 1);
  cut.abort(new Error('left'));
  await assert.rejects(running, /left/);
  await eventually(() => shells.live === 0);
});

test('a response without an upgrade is forwarded, and a missing response is reported', async () => {
  const used = shells.shell('true');
  await collect({ url: used });
  await assert.rejects(runRemoteCommand({ url: through(used) }, { tty: false }), {
    code: 'not_found',
    message: 'this URL is unknown, already used or expired',
  });
  await assert.rejects(runRemoteCommand({ url: through('http://127.0.0.1:1/exec/x') }, { tty: false }), {
    code: 'internal',
    message: /cannot reach the runtime's streaming server: .*connection refused/,
  });
});

test('sessions aborted in any order leak no processes or descriptors', async () => {
  const random = seededRandom(2029);
  await eventually(() => shells.live === 0);
  const before = descriptors();
  for (let round = 0; round < 40; round++) {
    const cut = new AbortController();
    const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), tty: false };
    const url = through(shells.shell(['yes', 'cat', 'exec sleep 60'][random(3)]!, { stdin: true }));
    setTimeout(() => cut.abort(new Error('cut')), random(15));
    await assert.rejects(runRemoteCommand({ url }, io, cut.signal), /cut/);
  }
  await eventually(() => shells.live === 0 && descriptors() <= before);
});

/**
 * Creates a client's connection and a server's, joined by `joinConnections`. `pieces` collects the writes to the server. With `isSlow`,
 * none of these writes completes until `release` is called.
 */
async function join({ isSlow } = { isSlow: false }) {
  const pieces: string[] = [];
  const released = Promise.withResolvers<void>();
  if (!isSlow) released.resolve();
  const write = (chunks: { chunk: Buffer }[], done: () => void) => {
    pieces.push(Buffer.concat(chunks.map(({ chunk }) => chunk)).toString());
    if (isSlow) void released.promise.then(done);
    else done();
  };
  const upstream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => write([{ chunk }], done),
    writev: write,
  });
  const client = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  client.on('error', () => undefined);
  joinConnections(client, upstream);
  await setImmediate(); // data flows from now on
  return { client, upstream, pieces, release: released.resolve };
}

test('data received just before the client’s connection broke is written', async () => {
  const { client, upstream, pieces } = await join();
  client.push('last words');
  client.destroy(new Error('reset'));
  await once(upstream, 'close');
  assert.deepEqual(pieces, ['last words']);
});

test('a slow server receives all data from a client that has finished', async () => {
  const { client, upstream, pieces, release } = await join({ isSlow: true });
  client.push('first');
  await setImmediate();
  client.push('second');
  client.push(null);
  await once(client, 'end');
  client.destroy();
  await once(client, 'close');
  assert.deepEqual(pieces, ['first']);
  release();
  await once(upstream, 'finish');
  upstream.push(null);
  await once(upstream, 'close');
  assert.deepEqual(pieces, ['first', 'second']);
});

test('a runtime that writes before it reads receives all data from a client that has finished', async (t) => {
  const sent = 3_000_000;
  const receivedBytes = Promise.withResolvers<number>();
  const server = createTcpServer({ pauseOnConnect: true }, (runtime) => {
    let bytes = 0;
    runtime.on('data', (chunk) => {
      bytes += chunk.length;
    });
    runtime.on('error', () => undefined).on('close', () => receivedBytes.resolve(bytes));
    setTimeout(() => runtime.write('said first'), 50);
    setTimeout(() => runtime.resume(), 200);
  });
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const upstream = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(upstream, 'connect');
  const client = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  joinConnections(client, upstream);
  client.push(Buffer.alloc(sent));
  client.push(null);
  await once(client, 'end');
  client.destroy();
  assert.equal(await receivedBytes.promise, sent);
});

test('data received from the client in one event loop turn is written in one piece, followed by its end', async () => {
  const { client, upstream, pieces } = await join();
  for (const record of ['one', 'two', 'three']) client.push(record);
  await eventually(() => pieces.length > 0);
  assert.deepEqual(pieces, ['onetwothree']);
  client.push('four');
  client.push(null);
  await once(upstream, 'finish');
  assert.deepEqual(pieces, ['onetwothree', 'four']);
  client.destroy();
});
