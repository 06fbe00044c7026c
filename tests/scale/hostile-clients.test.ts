/** Clients that are slow, numerous, greedy or faulty: other clients are served, and nothing is left of the connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { create, type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { errorCode, Limiter, waitFor } from '@podwright/base';
import { CreateContainerRequestSchema, RunPodSandboxRequestSchema } from '@podwright/cri';
import { fuzz, pieces, seededRandom } from '../../packages/base/src/fuzz.fixture.ts';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { lookAt } from './process-look.ts';

const CONNECTIONS = 1000;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
const bound = () => AbortSignal.timeout(60_000);

const runtime = new RuntimeUnderTest();
const { place } = runtime;
let daemon: KillableRuntime;
/** Number of file descriptors of the runtime with no clients other than the test's own. */
let descriptors: number;

before(async () => {
  await runtime.start();
  await runtime.stop();
  daemon = await startKillable(place);
  await daemon.cri.runtime.status({});
  descriptors = lookAt(daemon.pid).descriptors.length;
});
after(async () => {
  await daemon.kill();
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

/** Error codes with which the runtime may reject a malformed request. */
const REFUSED =
  /^(invalid_argument|not_found|already_exists|failed_precondition|unimplemented|permission_denied|resource_exhausted)$/;

/** Decodes a message; `undefined` if it is malformed, in which case the client library cannot send it. */
function decoded<T extends DescMessage>(schema: T, bytes: Buffer): MessageShape<T> | undefined {
  try {
    return fromBinary(schema, bytes);
  } catch {
    return undefined;
  }
}

async function assertServes(): Promise<void> {
  await daemon.cri.runtime.version({}, { timeoutMs: 60_000 });
}

/** Asserts that the runtime has no more file descriptors than it had without other clients. */
async function assertReleased(): Promise<void> {
  const count = () => lookAt(daemon.pid).descriptors.length;
  const few = () => count() <= descriptors || undefined;
  await waitFor(few, { intervalMs: 100, signal: bound() }).catch(() => assert.equal(count(), descriptors));
}

async function client(): Promise<Socket> {
  const socket = connect(place.options.socket);
  const greeted = once(socket, 'data', { signal: bound() }); // an HTTP/2 server sends its settings first
  socket.on('error', () => undefined).resume();
  await greeted;
  return socket;
}

const closed = (socket: Socket) =>
  socket.closed ? undefined : once(socket, 'close', { signal: AbortSignal.timeout(60_000) });

test(`${CONNECTIONS} connections do not block the runtime, and are released`, async () => {
  const limiter = new Limiter(100); // the kernel queues only some hundred connections
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => limiter.run(client)));
  await assertServes();
  for (const [index, socket] of sockets.entries()) {
    if (index % 4 === 0) socket.write(PREFACE);
    else if (index % 4 === 1) socket.write(PREFACE.subarray(0, 10));
    else if (index % 4 === 2) socket.end();
  }
  await assertServes();
  for (const socket of sockets) socket.destroy();
  await assertReleased();
});

test('a client that sends nothing, or half of the preface, is disconnected', async () => {
  const [silent, half] = [await client(), await client()];
  half.write(PREFACE.subarray(0, 12));
  await Promise.all([closed(silent), closed(half)]);
  await assertReleased();
});

test('connections half-closed by the client after any byte are released', async () => {
  const random = seededRandom(1);
  for (let round = 0; round < 30; round++) (await client()).end(PREFACE.subarray(0, random(PREFACE.length + 1)));
  await assertReleased();
});

test('malformed HTTP/2 closes only the sender’s connection', async () => {
  const headers = Buffer.from('0000040104000000018286c4bf', 'hex');
  const data = Buffer.from('000005000000000001000000000a', 'hex');
  const samples = [Buffer.concat([PREFACE, headers, data]), Buffer.concat([PREFACE, PREFACE, headers])];
  await fuzz({ samples, rounds: 200 }, async (input, random) => {
    const socket = await client();
    for (const piece of pieces(random, input)) socket.write(piece);
    if (random(2) === 0) socket.end();
    else setImmediate(() => socket.destroy());
  });
  await assertServes();
  await assertReleased();
});

test('a request over 16 MiB is rejected, and a smaller one is read', async () => {
  const { runtime: cri } = daemon.cri;
  await assert.rejects(cri.version({ version: 'x'.repeat(17 << 20) }), { code: 'resource_exhausted' });
  await cri.version({ version: 'x'.repeat(15 << 20) });
  const pod = podOf(place, 'greedy');
  const annotations = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`a/${index}`, 'x'.repeat(2000)]));
  const { podSandboxId } = await cri.runPodSandbox({ config: { ...pod, annotations } });
  const [listed] = (await cri.listPodSandbox({ filter: { id: podSandboxId } })).items;
  assert.deepEqual(listed?.annotations, annotations);
  await cri.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('responses of almost 16 MiB are sent, and larger ones are rejected with advice', async () => {
  const { runtime: cri } = daemon.cri;
  const annotations = { big: 'x'.repeat(3 << 20) };
  const ids: string[] = [];
  const add = async () => {
    const { podSandboxId } = await cri.runPodSandbox({ config: { ...podOf(place, `big-${ids.length}`), annotations } });
    ids.push(podSandboxId);
  };
  for (let count = 0; count < 5; count++) await add();
  assert.equal((await cri.listPodSandbox({})).items.length, 5);
  await add();
  await assert.rejects(cri.listPodSandbox({}), { code: 'resource_exhausted', message: /filter the list/ });
  assert.equal((await cri.listPodSandbox({ filter: { id: ids[0]! } })).items.length, 1);
  for (const podSandboxId of ids) await cri.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a stream URL can be used only once', async () => {
  const { cri } = daemon;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'urls') });
  const url = new URL((await cri.runtime.portForward({ podSandboxId, port: [1] })).url);
  const ask = async (path: string) => {
    const socket = connect(Number(url.port), url.hostname);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`);
    const [answer] = (await once(socket, 'data', { signal: bound() })) as [Buffer];
    socket.destroy();
    return String(answer).split('\r\n')[0]!;
  };
  assert.match(await ask(url.pathname), / (101|400|403) /);
  for (const path of [url.pathname, '/portforward/', '/exec/AAAAAAAA', '/', `/exec${url.pathname.slice(12)}`])
    assert.match(await ask(path), / 404 /, path);
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('requests with damaged fields are served or refused, and leave nothing behind', async () => {
  const { runtime: cri } = daemon.cri;
  const { podSandboxId } = await cri.runPodSandbox({ config: podOf(place, 'home') });
  const pod = { ...podOf(place, 'damaged'), labels: { a: 'b' }, portMappings: [{ containerPort: 80 }] };
  const mounts = [{ containerPath: '/mnt/../x', hostPath: '/tmp' }];
  const config = { ...containerOf(runtime.image, 'damaged', 'exec true'), mounts };
  const requests = [
    toBinary(RunPodSandboxRequestSchema, create(RunPodSandboxRequestSchema, { config: pod })),
    toBinary(CreateContainerRequestSchema, create(CreateContainerRequestSchema, { podSandboxId, config })),
  ];
  const remove = async ({ podSandboxId = '', containerId = '' }) =>
    podSandboxId === '' ? cri.removeContainer({ containerId }) : cri.removePodSandbox({ podSandboxId });
  await fuzz({ samples: requests.map((bytes) => Buffer.from(bytes)), rounds: 150 }, async (input, random) => {
    const isRun = random(2) === 0;
    const run = isRun ? decoded(RunPodSandboxRequestSchema, input) : undefined;
    const make = isRun ? undefined : decoded(CreateContainerRequestSchema, input);
    try {
      if (run !== undefined) await remove(await cri.runPodSandbox(run));
      if (make !== undefined) await remove(await cri.createContainer(make));
    } catch (error) {
      assert.match(errorCode(error), REFUSED, String(error));
    }
  });
  await cri.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});
