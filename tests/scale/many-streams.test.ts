/** Opens, breaks and closes streams of every type and transport in random order; TEST_SEED repeats an earlier run. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Limiter, sleep, waitFor } from '@podwright/base';
import { connectSpdy } from '@podwright/streaming';
import { type Random, seededRandom } from '../../packages/base/src/fuzz.fixture.ts';
import { takeInventory } from '../fixtures/host-inventory.ts';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { lookAt } from './process-look.ts';

const STREAMS = 200;
const AT_ONCE = 10;
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1e6));

const runtime = new RuntimeUnderTest();
const { place } = runtime;
let daemon: KillableRuntime;
let podSandboxId: string;
let containerId: string;

before(async () => {
  await runtime.start();
  await runtime.stop();
  daemon = await startKillable(place);
  const { cri } = daemon;
  ({ podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'streams') }));
  // echoes connections to port 8080 as well as lines read from standard input
  const script = 'while :; do nc -l -p 8080 -e cat; done & while read line; do echo $line; done; exec sleep 1000';
  const config = { ...containerOf(runtime.image, 'main', script), stdin: true };
  ({ containerId } = await cri.runtime.createContainer({ podSandboxId, config }));
  await cri.runtime.startContainer({ containerId });
});
after(async () => {
  await daemon.kill();
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

type Kind = 'exec' | 'attach' | 'portforward';
type Open = { url: string; kind: Kind; random: Random };

async function urlOf(kind: Kind, random: Random): Promise<string> {
  const { runtime: cri } = daemon.cri;
  const standard = { stdin: true, stdout: true, stderr: random(2) === 0, tty: false };
  if (kind === 'attach') return (await cri.attach({ ...standard, containerId })).url;
  if (kind === 'portforward') return (await cri.portForward({ podSandboxId, port: [8080] })).url;
  const cmd = [['cat'], ['sh', '-c', 'sleep 0.1; exit 3'], ['sleep', '1000'], ['yes']][random(4)]!;
  return (await cri.exec({ ...standard, containerId, cmd })).url;
}

/** Opens a SPDY connection with a random subset of its streams, and breaks it at a random point. */
async function overSpdy({ url, kind, random }: Open): Promise<void> {
  const protocols = [kind === 'portforward' ? 'portforward.k8s.io' : 'v4.channel.k8s.io'];
  const { connection } = await connectSpdy({ url }, { protocols });
  const types = kind === 'portforward' ? ['error', 'data'] : ['error', 'stdin', 'stdout', 'stderr'];
  const headers: Record<string, string> = kind === 'portforward' ? { port: '8080', requestid: '0' } : {};
  for (const streamtype of types.slice(0, random(types.length + 1))) {
    const stream = await connection.open({ ...headers, streamtype }).catch(() => undefined);
    stream?.resume();
    if (random(2) === 0) stream?.write('some bytes\n');
    if (random(3) === 0) stream?.end();
    if (random(4) === 0) stream?.destroy();
  }
  await sleep(random(150));
  if (random(2) === 0) connection.close();
  else connection.destroy();
  await connection.closed;
}

/** Opens a WebSocket as raw bytes, so that it can be broken anywhere, and breaks it after some messages. */
async function overWebSocket({ url, kind, random }: Open): Promise<void> {
  const protocol = kind === 'portforward' || random(2) === 0 ? 'v4.channel.k8s.io' : 'v5.channel.k8s.io';
  const { port, hostname, pathname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined).resume();
  socket.write(handshake(pathname, protocol));
  if (random(5) === 0) await sleep(random(20));
  else await Promise.race([once(socket, 'data'), closed]);
  for (let messages = random(4); messages > 0; messages--)
    socket.write(frame(2, Buffer.concat([Buffer.from([[0, 4, 255, 9][random(4)]!]), Buffer.from('bytes\n')])));
  await sleep(random(150));
  if (random(3) === 0) socket.write(frame(8, Buffer.from([3, 0xe8])));
  if (random(2) === 0) socket.destroy();
  else socket.end();
  await Promise.race([closed, sleep(5000)]);
  socket.destroy();
}

function handshake(path: string, protocol: string): string {
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
  const upgrade = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key];
  return [`GET ${path} HTTP/1.1`, ...upgrade, `Sec-WebSocket-Protocol: ${protocol}`, '\r\n'].join('\r\n');
}

/** Encodes a short client frame, masked with zeros (RFC 6455, section 5.2). */
const frame = (opcode: number, payload: Buffer) =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);

async function oneStream(index: number): Promise<void> {
  const random = seededRandom(seed * 1009 + index);
  const kind = (['exec', 'exec', 'attach', 'portforward'] as const)[random(4)]!;
  const open = { url: await urlOf(kind, random), kind, random };
  if (random(10) === 0) return; // a URL that no client uses
  await (random(2) === 0 ? overSpdy(open) : overWebSocket(open));
}

/** Returns the runtime's open file descriptors and its containers' processes. */
function holdings(): string[] {
  const processes = takeInventory(place.scope).processes.map((line) => line.replace(/^\d+ /, ''));
  const commands = processes.filter((line) => !/nc -l|runtime-child/.test(line));
  return [...lookAt(daemon.pid).descriptors, ...commands].sort();
}

/**
 * Returns the descriptors and processes that `before` does not contain, except for as many sockets as there may be concurrent attach
 * sessions: the runtime reuses connections to a silent task's monitor (`TaskAttachments`), and closes them at the task's next output.
 */
function added(before: string[]): string[] {
  const known = [...before, ...Array.from({ length: AT_ONCE }, () => 'socket')];
  return holdings().filter((one) => {
    const at = known.indexOf(one);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

test(`${STREAMS} streams leave no process and no descriptor (TEST_SEED=${seed})`, async () => {
  for (let index = 0; index < 6; index++) await oneStream(1_000_000 + index); // warms up: allocates everything that is allocated once
  let before = holdings();
  const settled = () => {
    const earlier = before;
    before = holdings();
    return isDeepStrictEqual(earlier, before) || undefined;
  };
  await waitFor(settled, { intervalMs: 1500, signal: AbortSignal.timeout(60_000) });
  const limiter = new Limiter(AT_ONCE);
  await Promise.all(Array.from({ length: STREAMS }, (_, index) => limiter.run(() => oneStream(index))));
  const clean = () => added(before).length === 0 || undefined;
  await waitFor(clean, { intervalMs: 250, signal: AbortSignal.timeout(60_000) }).catch(() =>
    assert.deepEqual(added(before), []),
  );
  const answer = await daemon.cri.runtime.execSync({ containerId, cmd: ['echo', 'well'], timeout: 60n });
  assert.equal(Buffer.from(answer.stdout).toString(), 'well\n');
});
