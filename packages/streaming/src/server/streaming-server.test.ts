import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { WebSocket } from 'ws';
import { runRemoteCommand } from '../client/remote-command.ts';
import { connectSpdy } from '../client/upgrade.ts';
import { seededRandom } from '../random.fixture.ts';
import type { RemoteProcess } from '../remote-process.ts';
import { collect, descriptors, eventually, ShellServer } from './shell.fixture.ts';
import { StreamingServer } from './streaming-server.ts';

const shells = new ShellServer();
before(() => shells.server.listen());
after(() => shells.server.close());

const UNAVAILABLE = { code: 'unavailable' };
const onlyOut = { stderr: false };
const sink = () => new PassThrough().resume();

test('the output, errors and exit code of a command reach the client', async () => {
  const { exitCode, out, err } = await collect({ url: shells.shell('echo out; echo err >&2; exit 3') });
  assert.deepEqual([exitCode, out.toString(), err], [3, 'out\n', 'err\n']);
});

test('the end of stdin reaches the command, and binary data is transferred completely in both directions', async () => {
  const sent = Buffer.alloc(20 << 20, Buffer.from([0, 255, 10, 13, 128]));
  const { exitCode, out } = await collect({ url: shells.shell('cat', { stdin: true }) }, sent);
  assert.equal(exitCode, 0);
  assert.ok(out.equals(sent));
});

test('a command that does not read its input still ends, with its entire output', async () => {
  const url = shells.shell('head -c 5; seq 10000 | tail -1; exit 6', { stdin: true });
  const { exitCode, out } = await collect({ url }, Buffer.alloc(20 << 20, 'x'));
  assert.deepEqual([exitCode, out.toString()], [6, 'xxxxx10000\n']);
});

test('a URL can be used only once', async () => {
  const url = shells.shell('true', onlyOut);
  await runRemoteCommand({ url }, { stdout: sink(), tty: false });
  await assert.rejects(runRemoteCommand({ url }, { tty: false }), { code: 'not_found' });
});

test('a client accepted by another server in the same process is served on the same connection, unless the URL belongs to the other server', async () => {
  const served: boolean[] = [];
  const door = createServer();
  door.on('upgrade', (request, socket, head) => {
    const url = decodeURIComponent(request.url!.slice(1));
    served.push(shells.server.serve({ request, socket, head }, url));
    if (served.at(-1) === false) socket.destroy();
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const through = (url: string) =>
    `http://127.0.0.1:${(door.address() as { port: number }).port}/${encodeURIComponent(url)}`;
  const sent = Buffer.alloc(5 << 20, 'abc');
  const url = shells.shell('cat; echo err >&2; exit 9', { stdin: true });
  const { exitCode, out, err } = await collect({ url: through(url) }, sent);
  assert.deepEqual([exitCode, out.equals(sent), err], [9, true, 'err\n']);
  await assert.rejects(runRemoteCommand({ url: through(url) }, { tty: false }), { code: 'not_found' });
  const socket = new WebSocket(through(shells.shell('echo hello')), ['v5.channel.k8s.io']);
  const received: string[] = [];
  socket.on('message', (data: Buffer) => received.push(data.toString()));
  await once(socket, 'close');
  assert.ok(received.includes('\x01hello\n'), received.join());
  const other = `http://127.0.0.1:1${new URL(shells.shell('true')).pathname}`;
  await assert.rejects(runRemoteCommand({ url: through(other) }, { tty: false }), UNAVAILABLE);
  assert.deepEqual(served, [true, true, true, false]);
  door.close();
});

test('terminal sizes reach the process', async () => {
  const url = shells.shell('exec sleep 0.2', { tty: true, stderr: false });
  const resize = (listener: (size: { Width: number; Height: number }) => void) => {
    listener({ Width: 80, Height: 24 });
    return { [Symbol.dispose]: () => undefined };
  };
  await runRemoteCommand({ url }, { stdout: sink(), tty: true, resize });
  assert.deepEqual(shells.sizes, ['80x24']);
});

test('the reason is reported if a command fails to start', async () => {
  const start = async () => {
    throw new Error('no such container');
  };
  const choice = { stdin: false, stdout: true, stderr: false, tty: false };
  const url = shells.server.url({ kind: 'exec', choice, start });
  await assert.rejects(runRemoteCommand({ url }, { stdout: sink(), tty: false }), /no such container/);
});

test('an attached process continues when its client disconnects, and its input stays open', async () => {
  const stdin = new PassThrough();
  let closed = 0;
  const attached: RemoteProcess = {
    stdin,
    stdout: new PassThrough(),
    stderr: undefined,
    resize: () => undefined,
    exit: new Promise(() => undefined),
    close: () => closed++,
  };
  const choice = { stdin: true, stdout: true, stderr: false, tty: false };
  const url = shells.server.url({ kind: 'attach', choice, start: async () => attached });
  const leaves = new AbortController();
  const input = new PassThrough();
  const running = runRemoteCommand({ url }, { stdin: input, stdout: sink(), tty: false }, leaves.signal);
  input.write('typed');
  await eventually(() => stdin.readableLength === 5);
  leaves.abort(new Error('detach'));
  await assert.rejects(running, /detach/);
  await eventually(() => closed === 1);
  assert.deepEqual([stdin.writableEnded, stdin.destroyed], [false, false]);
});

test('a client disconnect is detected even if its input is not read', async () => {
  const leaves = new AbortController();
  const input = new PassThrough();
  const io = { stdin: input, stdout: sink(), stderr: sink(), tty: false };
  const running = runRemoteCommand({ url: shells.shell('exec sleep 60', { stdin: true }) }, io, leaves.signal);
  input.write(Buffer.alloc(16 << 20));
  await eventually(() => shells.live === 1);
  leaves.abort(new Error('left'));
  await assert.rejects(running);
  await eventually(() => shells.live === 0);
});

/** Runs one session that ends, or is aborted, at a random moment. */
async function session(random: (below: number) => number): Promise<void> {
  const stdin = random(2) === 0;
  const script = ['exec sleep 60', 'echo hello', 'cat', 'yes'][random(4)]!;
  const url = shells.shell(script, { stdin }, random(3) * 5);
  const cut = new AbortController();
  const timer = setTimeout(() => cut.abort(new Error('cut')), random(60));
  const io = { stdin: stdin ? new PassThrough() : undefined, stdout: sink(), stderr: sink(), tty: false };
  const words = await runRemoteCommand({ url }, io, cut.signal).catch(String);
  clearTimeout(timer);
  assert.ok(words === 0 || words === 'Error: cut', String(words));
}

test('opening, aborting and ending two hundred sessions in any order leaks no processes or descriptors', async () => {
  const random = seededRandom(2026);
  await collect({ url: shells.shell('true') });
  await eventually(() => shells.live === 0);
  const before = descriptors();
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, () => session(random)));
  await eventually(() => shells.live === 0 && descriptors() <= before);
});

test('a request without an upgrade, or with an unknown token or kind, is rejected with a message', async () => {
  const base = shells.shell('true').split('/').slice(0, 3).join('/');
  assert.equal((await fetch(`${base}/exec/x`)).status, 404);
  const protocols = ['v4.channel.k8s.io'];
  await assert.rejects(connectSpdy({ url: `${base}/exec/unknown` }, { protocols }), /unknown, already used or expired/);
  await assert.rejects(connectSpdy({ url: `${base}/` }, { protocols }), { code: 'not_found' });
  const wrong = shells.shell('true').replace('/exec/', '/attach/');
  await assert.rejects(connectSpdy({ url: wrong }, { protocols }), { code: 'not_found' });
  await assert.rejects(connectSpdy({ url: shells.shell('true') }, { protocols: ['v9'] }), /none of|unable to upgrade/);
});

test('protocols are negotiated in the client’s order of preference, from one or several headers', async () => {
  for (const [protocols, chosen] of [
    [['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v3.channel.k8s.io'], 'v4.channel.k8s.io'],
    [['v2.channel.k8s.io,v4.channel.k8s.io'], 'v2.channel.k8s.io'],
    [[], 'channel.k8s.io'],
  ] as const) {
    const found = await connectSpdy({ url: shells.shell('true') }, { protocols: [...protocols] });
    assert.equal(found.protocol === undefined ? 'channel.k8s.io' : found.protocol, chosen);
    found.connection.destroy();
  }
});

test('invalid HTTP requests end their connection', async () => {
  const { port, hostname } = new URL(shells.shell('true'));
  for (const bytes of [
    '\x80\x03\x00\x01',
    `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(10_000)}`,
    'POST / HTTP/9.9\r\n\r\n',
  ]) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(bytes);
    await new Promise((resolve) => socket.resume().once('close', resolve));
  }
});

test('closing the server ends all sessions, processes and pending URLs', async () => {
  const other = new ShellServer();
  await other.server.listen();
  const io = { stdout: sink(), stderr: sink(), tty: false };
  const running = Promise.all(
    [1, 2, 3].map(() => assert.rejects(runRemoteCommand({ url: other.shell('exec sleep 60') }, io), UNAVAILABLE)),
  );
  const url = other.shell('true');
  await eventually(() => other.live === 3);
  await other.server.close();
  await running;
  await eventually(() => other.live === 0);
  await assert.rejects(runRemoteCommand({ url }, { tty: false }), UNAVAILABLE);
});

test('an address that is in use or not on this host is an error; wildcard addresses appear as loopback in URLs', async () => {
  const port = Number(new URL(shells.shell('true')).port);
  const taken = new StreamingServer({ address: '127.0.0.1', port, logger: silentLogger });
  await assert.rejects(taken.listen(), { code: 'EADDRINUSE' });
  const everywhere = new StreamingServer({ address: '0.0.0.0', port: 0, logger: silentLogger });
  await everywhere.listen();
  const dial = async () => assert.fail();
  assert.match(everywhere.url({ kind: 'portforward', dial }), /^http:\/\/127\.0\.0\.1:\d+\/portforward\//);
  await everywhere.close();
});

test('the last output of a command reaches a slow client', async () => {
  const stdout = new PassThrough();
  const running = runRemoteCommand({ url: shells.shell('seq 200000', onlyOut) }, { stdout, tty: false });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const lines = text(stdout);
  assert.equal(await running, 0);
  stdout.end();
  assert.ok((await lines).endsWith('\n199999\n200000\n'));
});
