/**
 * A client with a token sends frames that claim to be, or decompress to, far more than their size: SPDY lengths and counts that are trusted
 * before the data is read (CVE-2026-35469), zlib bombs, and WebSocket messages in one-byte fragments. Each attack costs the attacker a few
 * megabytes at most, and must not make the runtime's memory grow without bound.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { constants, deflateSync } from 'node:zlib';
import { spdyDictionary } from '../../packages/streaming/src/spdy/dictionary.ts';
import { encodeControl, encodeDataHead, FrameType, uint32 } from '../../packages/streaming/src/spdy/frames.ts';
import { HeaderCodec } from '../../packages/streaming/src/spdy/header-block.ts';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { peakBytes, resetPeak } from './memory-of.fixture.ts';

/** Maximum memory growth per attack, including uncollected garbage. */
const BOUND_BYTES = 96 << 20;

const runtime = new RuntimeUnderTest();
let daemon: KillableRuntime;
let podSandboxId = '';

before(async () => {
  await runtime.start();
  await runtime.stop();
  daemon = await startKillable(runtime.place);
  ({ podSandboxId } = await daemon.cri.runtime.runPodSandbox({ config: podOf(runtime.place, 'streams') }));
});
after(async () => {
  await daemon.kill();
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

/** Requests a new port-forward URL, and opens a connection to it that is upgraded with these headers. */
async function upgraded(headers: string): Promise<Socket> {
  const { port, pathname } = new URL((await daemon.cri.runtime.portForward({ podSandboxId, port: [1] })).url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n${headers}\r\n\r\n`);
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(20_000) })) as [Buffer];
  assert.match(String(answer), /^HTTP\/1\.1 101 /);
  return socket;
}

const spdy = () => upgraded('Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io');
const webSocket = () =>
  upgraded(
    `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
  );

/** Sends as much as the runtime will read. Once the runtime has processed it, asserts that its memory growth is bounded. */
async function attack(socket: Socket, pieces: Iterable<Buffer>): Promise<void> {
  const before = resetPeak(daemon.pid);
  socket.resume();
  for (const piece of pieces) {
    if (socket.destroyed) break;
    if (!socket.write(piece)) await drained(socket);
  }
  await daemon.cri.runtime.version({}, { timeoutMs: 60_000 });
  const costBytes = peakBytes(daemon.pid) - before;
  assert.ok(costBytes < BOUND_BYTES, `cost ${costBytes >> 20} MiB`);
  socket.destroy();
}

/** Resolves once the socket accepts more data or is closed. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

const synStream = (id: number, block: Buffer) =>
  encodeControl(FrameType.synStream, 0, Buffer.concat([uint32(id, 0), Buffer.alloc(2), block]));
const packed = (block: Buffer) =>
  deflateSync(block, { dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH, level: 9 });
const claims = (name: string, block: Buffer): [string, Buffer] => [name, synStream(1, packed(block))];

for (const [name, frame] of [
  ['of four billion settings', encodeControl(FrameType.settings, 0, uint32(0xffff_ffff))],
  ['of sixteen megabytes of settings', Buffer.from('8003000400ffffff', 'hex')],
  claims('of four billion headers', uint32(0xffff_ffff)),
  claims('of a header of four gigabytes', uint32(1, 0xffff_ffff)),
  claims('of a value of four gigabytes', Buffer.concat([uint32(1, 1), Buffer.from('a'), uint32(0xffff_ffff)])),
  ['of a block that decompresses to sixteen megabytes', synStream(1, packed(Buffer.alloc(16 << 20)))],
] as [string, Buffer][]) {
  test(`a SPDY frame ${name} is bounded, also repeatedly`, async () => {
    for (let round = 0; round < 20; round++) await attack(await spdy(), [frame]);
  });
}

test('headers of many SPDY streams do not accumulate', async () => {
  const codec = new HeaderCodec();
  const padding = 'x'.repeat(200 << 10);
  const open = (index: number) =>
    synStream(2 * index + 1, codec.encode({ streamtype: 'error', port: '80', requestid: String(index), padding }));
  await attack(
    await spdy(),
    Array.from({ length: 500 }, (_, index) => open(index)),
  );
});

test('data for unknown streams is discarded', async () => {
  const piece = Buffer.alloc(1 << 20);
  const frames = Array.from({ length: 8 }, () => [
    encodeDataHead(77, { fin: false, length: 0xff_ffff }),
    ...Array.from({ length: 15 }, () => piece),
    piece.subarray(1),
  ]);
  await attack(await spdy(), frames.flat());
});

test('a SPDY client that opens streams without reading replies is disconnected', async () => {
  const socket = await spdy();
  socket.pause();
  const codec = new HeaderCodec();
  const frames = Array.from({ length: 30_000 }, (_, index) =>
    synStream(2 * index + 1, codec.encode({ streamtype: 'none' })),
  );
  await attack(socket, [Buffer.concat(frames)]);
});

/** Encodes a client frame (RFC 6455, section 5.2), masked with zeros. */
function webSocketFrame(opcode: number, payload: Buffer, { fin = true, claimed = payload.length } = {}): Buffer {
  const head = Buffer.alloc(14);
  head[0] = (fin ? 0x80 : 0) | opcode;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(claimed), 2);
  return Buffer.concat([head, payload]);
}

test('a WebSocket message claiming to be a terabyte is rejected', async () => {
  await attack(await webSocket(), [webSocketFrame(2, Buffer.alloc(1 << 20), { claimed: 2 ** 40 })]);
});

test('a WebSocket message in millions of fragments is refused', async () => {
  const piece = Buffer.from([0, 0x81, 0, 0, 0, 0, 0]); // continuation, one masked byte
  const many = Buffer.alloc(piece.length * 100_000, piece);
  const first = webSocketFrame(2, Buffer.alloc(1), { fin: false });
  await attack(await webSocket(), [first, ...Array.from({ length: 20 }, () => many)]);
});

test('pongs for a WebSocket client that does not read do not accumulate', async () => {
  const socket = await webSocket();
  socket.pause();
  const pings = Buffer.alloc(131 * 10_000, Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)]));
  await attack(
    socket,
    Array.from({ length: 40 }, () => pings),
  );
});

test('the streaming server still serves', async () => {
  const socket = await spdy();
  const codec = new HeaderCodec();
  socket.write(synStream(1, codec.encode({ streamtype: 'error', port: '80' })));
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(20_000) })) as [Buffer];
  assert.equal(answer.readUInt16BE(2), FrameType.synReply);
  socket.destroy();
});
