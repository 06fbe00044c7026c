/** Streaming cases specific to a Docker Engine. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { Duplex, PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { findProcesses } from '@podwright/host';
import { PortForwarder, runRemoteCommand } from '@podwright/streaming';
import { readCommandLine } from '@podwright/system';
import { WebSocketVisitor } from '../../packages/streaming/src/websocket-client.fixture.ts';
import { boundMs, collect, Visitor } from '../streaming/streaming-pod.fixture.ts';
import { BarePods } from './bare-pods.fixture.ts';
import { busyboxImage } from './docker-engine.fixture.ts';

let pods: BarePods;
let sandboxId: string;
let main: string;

before(async () => {
  pods = await BarePods.start();
  sandboxId = await pods.sandbox();
  main = await pods.container(sandboxId, 'sleep 1000000');
});
after(() => pods?.[Symbol.asyncDispose]());

type Asked = { stdin?: boolean; tty?: boolean };

async function execUrl(script: string, { stdin = false, tty = false }: Asked = {}, containerId = main) {
  const cmd = ['sh', '-c', script];
  return (await pods.cri.runtime.exec({ containerId, cmd, stdin, stdout: true, stderr: !tty, tty })).url;
}

async function attachUrl(containerId: string, { stdin = false, tty = false }: Asked = {}) {
  return (await pods.cri.runtime.attach({ containerId, stdin, stdout: true, stderr: !tty, tty })).url;
}

const eventually = (condition: () => boolean | Promise<boolean>) =>
  waitFor(async () => (await condition()) || undefined, { intervalMs: 20, signal: AbortSignal.timeout(boundMs) });

/** Returns the processes with this last argument, including those in containers. */
const findByLastArgument = (argument: string) =>
  findProcesses(async (pid) => (await readCommandLine(pid)).at(-1) === argument);

/** Returns a unique number of seconds for `sleep`, and a function that counts the processes sleeping for it. */
function uniqueSleep() {
  const seconds = String(randomInt(10 ** 9, 10 ** 10));
  const count = async () => (await findByLastArgument(seconds)).length;
  return { seconds, count };
}

test('a command receives exactly the client’s input, followed by its end', async () => {
  const sent = Buffer.from('{"Detach":false}\r\n\0\x01\xff', 'latin1');
  const stdin = () => new PassThrough().end(sent);
  const hex = await collect(await execUrl('od -An -v -tx1', { stdin: true }), stdin());
  assert.equal(hex.out.toString().replaceAll(/\s/g, ''), sent.toString('hex'));
  const none = await collect(await execUrl('wc -c', { stdin: true }), new PassThrough().end());
  assert.equal(none.out.toString().trim(), '0');
});

test('a container receives exactly the input of attached clients, which ends with the first client if stdinOnce is set', async () => {
  const script = 'od -An -v -tx1; sleep 1';
  const id = await pods.container(sandboxId, script, { stdin: true, stdinOnce: true });
  const { out, exitCode } = await collect(await attachUrl(id, { stdin: true }), new PassThrough().end('abc'));
  assert.deepEqual([out.toString().replaceAll(/\s/g, ''), exitCode], ['616263', 0]);
});

test('a client that ends its input still gets the output of a container whose input stays open', async () => {
  const id = await pods.container(sandboxId, 'while read line; do echo "got $line"; done', { stdin: true });
  const [first, second] = [0, 0].map(() => attachUrl(id, { stdin: true }));
  const visitor = new Visitor(await first!, { stdin: true });
  visitor.stdin.end('one\n');
  await eventually(() => visitor.output === 'got one\n');
  const other = new Visitor(await second!, { stdin: true });
  other.stdin.write('two\n');
  await eventually(() => visitor.output === 'got one\ngot two\n');
  for (const each of [visitor, other]) each.leave();
  await pods.engine.containers.remove(id);
});

test('no key sequence detaches a terminal session, and prefixes of Docker’s sequences are passed through', async () => {
  const script = 'stty raw -echo; echo ready; head -c 6 | od -An -v -tx1; sleep 0.3';
  const check = async (url: string, keys: number[]) => {
    const visitor = new Visitor(url, { stdin: true, tty: true });
    await eventually(() => visitor.output.includes('ready'));
    visitor.stdin.write(Buffer.from(keys));
    await visitor.ended;
    const expected = keys.map((key) => key.toString(16).padStart(2, '0')).join('');
    assert.equal(visitor.output.replace('ready', '').replaceAll(/\s/g, ''), expected);
  };
  await check(await execUrl(script, { stdin: true, tty: true }), [16, 17, 0x1e, 0, 0x1e, 0x71]);
  const id = await pods.container(sandboxId, `sleep 0.3; ${script}`, { stdin: true, tty: true });
  await check(await attachUrl(id, { stdin: true, tty: true }), [16, 17, 0xff, 0xfe, 0xff, 0x71]);
});

test('a hundred megabytes are transferred unchanged in both directions over WebSocket', async () => {
  const sent = randomBytes(1 << 20);
  const hash = createHash('sha256');
  const visitor = new WebSocketVisitor(
    await execUrl('cat; echo end >&2; exit 3', { stdin: true }),
    'v5.channel.k8s.io',
  );
  for (let megabyte = 0; megabyte < 100; megabyte++) {
    hash.update(sent);
    await visitor.write(sent, { end: megabyte === 99 });
  }
  assert.equal(await visitor.exitCode(), 3);
  assert.equal(createHash('sha256').update(visitor.received('stdout')).digest('hex'), hash.digest('hex'));
  assert.equal(visitor.received('stderr').toString(), 'end\n');
});

test('a client that does not read pauses the command', async () => {
  const word = `slow-${randomInt(10 ** 9)}`;
  const stdout = new Writable({ write: () => undefined });
  const leaving = new AbortController();
  const io = { stdin: undefined, stdout, stderr: new PassThrough().resume(), tty: false };
  const session = runRemoteCommand({ url: await execUrl(`exec yes ${word}`) }, io, leaving.signal).catch(
    () => undefined,
  );
  const find = async () => (await findByLastArgument(`exec yes ${word}`))[0];
  const pid = await waitFor(find, { intervalMs: 20, signal: AbortSignal.timeout(boundMs) });
  const written = () => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1]);
  let [last, sameFor] = [-1, 0];
  await eventually(() => {
    sameFor = written() === last ? sameFor + 1 : 0;
    last = written();
    return sameFor === 25;
  });
  assert.ok(last < 64 << 20, `${last} bytes are buffered`);
  leaving.abort();
  await session;
  await eventually(async () => (await find()) === undefined);
});

test('a command whose client disconnects is killed with its descendants', async () => {
  const { seconds, count } = uniqueSleep();
  for (const tty of [false, true]) {
    const visitor = new Visitor(await execUrl(`sleep ${seconds} & echo here; sleep ${seconds}`, { tty }), { tty });
    await eventually(() => visitor.output.includes('here'));
    await eventually(async () => (await count()) === 2);
    visitor.leave();
    await eventually(async () => (await count()) === 0);
  }
});

test('when the Engine is killed, clients of commands get an error, and the commands are killed', async () => {
  const { seconds, count } = uniqueSleep();
  const visitor = new Visitor(await execUrl(`echo here; sleep ${seconds}`));
  await eventually(() => visitor.output.includes('here'));
  const waiting = pods.cri.runtime.execSync({ containerId: main, cmd: ['sleep', seconds], timeout: 0n });
  waiting.catch(() => undefined);
  await eventually(async () => (await count()) === 2);
  await pods.docker.restart();
  await assert.rejects(visitor.ended, /connection to the Docker Engine was lost/);
  await assert.rejects(async () => waiting);
  await eventually(async () => (await count()) <= 1);
  assert.equal((await collect(await execUrl('exit 5'))).exitCode, 5, 'the container kept running');
});

test('ExecSync separates the outputs, truncates them to the response limit, and kills the command at the timeout', async () => {
  const run = (script: string, timeout = 0n) =>
    pods.cri.runtime.execSync({ containerId: main, cmd: ['sh', '-c', script], timeout });
  const { stdout, stderr, exitCode } = await run('echo out; echo err >&2; exit 9');
  assert.deepEqual([`${stdout}`, `${stderr}`, exitCode], ['out\n', 'err\n', 9]);
  const much = await run('head -c 20000000 /dev/zero; echo err >&2; exit 8');
  assert.equal(much.stdout.length + much.stderr.length, (16 << 20) - 1024);
  assert.deepEqual([`${much.stderr}`, much.exitCode], ['err\n', 8]);
  const { seconds, count } = uniqueSleep();
  for (const script of [`sleep ${seconds} & sleep ${seconds}`, `sleep ${seconds} &`]) {
    await assert.rejects(async () => run(script, 1n), { code: 'deadline_exceeded' });
    assert.equal(await count(), 0, script);
  }
  const missing = { containerId: main, cmd: ['nosuch'], timeout: 0n };
  await assert.rejects(async () => pods.cri.runtime.execSync(missing), {
    code: 'unknown',
    message: /nosuch.*not found/,
  });
});

test('a hundred megabytes are transferred unchanged through a forwarded port, and each direction ends separately', async () => {
  const containerId = await pods.container(sandboxId, 'nc -ll -p 9000 -e sha256sum');
  const untilItListens = ['sh', '-c', 'until grep -q ":2328 .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done'];
  assert.equal((await pods.cri.runtime.execSync({ containerId, cmd: untilItListens, timeout: 30n })).exitCode, 0);
  const { url } = await pods.cri.runtime.portForward({ podSandboxId: sandboxId, port: [9000] });
  using forwarder = new PortForwarder({ url });
  const sent = randomBytes(1 << 20);
  const hash = createHash('sha256');
  const [toPod, fromPod] = [new PassThrough(), new PassThrough()];
  const answer = text(fromPod);
  const forwarding = forwarder.forward(Duplex.from({ writable: fromPod, readable: toPod }), 9000);
  for (let megabyte = 0; megabyte < 100; megabyte++) {
    hash.update(sent);
    if (!toPod.write(sent)) await once(toPod, 'drain');
  }
  toPod.end();
  assert.equal((await answer).split(' ')[0], hash.digest('hex'));
  await forwarding;
});

test("a port of a pod on the host's network is forwarded to the host's port", async () => {
  const id = await pods.sandbox({ NetworkMode: 'host' });
  const server = createServer((socket) => socket.end('of the host')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { url } = await pods.cri.runtime.portForward({ podSandboxId: id, port: [port] });
  using forwarder = new PortForwarder({ url });
  const fromPod = new PassThrough();
  const said = text(fromPod);
  await forwarder.forward(Duplex.from({ writable: fromPod, readable: new PassThrough().end() }), port);
  assert.equal(await said, 'of the host');
  server.close();
  await pods.engine.containers.remove(id);
});

test('foreign containers are not found, and containers that are not running are rejected', async () => {
  const { containers } = pods.engine;
  const labels = { 'io.kubernetes.docker.type': 'container' };
  const foreign = await containers.create('web', {
    Image: busyboxImage,
    Cmd: ['sleep', '1000'],
    Labels: labels,
    HostConfig: {},
  });
  await containers.start(foreign);
  const { runtime } = pods.cri;
  const streams = { stdin: false, stdout: true, stderr: true, tty: false };
  const check = async (containerId: string, code: string) => {
    await assert.rejects(async () => runtime.exec({ containerId, cmd: ['true'], ...streams }), { code });
    await assert.rejects(async () => runtime.execSync({ containerId, cmd: ['true'], timeout: 0n }), { code });
    await assert.rejects(async () => runtime.attach({ containerId, ...streams }), { code });
  };
  for (const id of [foreign, 'web', 'nosuch', sandboxId])
    await check(id, 'not_found').catch((error) => assert.fail(`${id}: ${error}`));
  const ended = await pods.container(sandboxId, 'exit 0');
  await eventually(async () => !(await containers.inspect(ended)).State.Running);
  await check(ended, 'failed_precondition');
});
