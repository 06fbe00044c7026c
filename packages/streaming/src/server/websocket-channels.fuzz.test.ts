import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { fuzz, pieces } from '../../../base/src/fuzz.fixture.ts';
import type { RemoteProcess } from '../remote-process.ts';
import { StreamingServer } from './streaming-server.ts';
import { decodeMessage, encodeMessage } from './websocket-messages.ts';

const server = new StreamingServer({ address: '127.0.0.1', port: 0, logger: silentLogger });
before(() => server.listen());
after(() => server.close());
/** Number of processes that have been started and not yet closed. */
let live = 0;

/** Creates a process that discards its input, and exits when its input ends. */
function swallower(): RemoteProcess {
  live++;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const { promise: exit, resolve } = Promise.withResolvers<number>();
  const end = () => {
    stdout.end();
    stderr.end();
    resolve(0);
  };
  const stdin = new Writable({ write: (_chunk, _encoding, done) => done(), final: (done) => done(void end()) });
  let closed = false;
  const close = () => {
    if (!closed) live--;
    closed = true;
    end();
  };
  return { stdin, stdout, stderr, exit, resize: () => undefined, close };
}

/** Encodes a frame as a client sends it: masked, here with zeros (RFC 6455, 5.2). */
function frame(opcode: number, payload: Buffer, fin = true): Buffer {
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | opcode, ...length, 0, 0, 0, 0]), payload]);
}

const samples = [
  Buffer.concat([
    frame(2, Buffer.concat([Buffer.from([0]), Buffer.alloc(300, 'x')])),
    frame(2, Buffer.from('\x04{"Width":80,"Height":24}')),
    frame(9, Buffer.from('ping')),
    frame(2, Buffer.from([0, 1, 2]), false),
    frame(0, Buffer.from([3, 4])),
    frame(2, Buffer.from([255, 0])),
    frame(8, Buffer.from([3, 0xe8])),
  ]),
  Buffer.concat([frame(1, Buffer.from('0aGVsbG8=')), frame(1, Buffer.from('4e30=')), frame(2, Buffer.alloc(0))]),
];

async function upgraded(): Promise<Socket> {
  const choice = { stdin: true, stdout: true, stderr: true, tty: false };
  const url = new URL(server.url({ kind: 'exec', choice, start: async () => swallower() }));
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined);
  socket.write(
    [
      `GET ${url.pathname} HTTP/1.1`,
      `Host: ${url.host}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Protocol: v5.channel.k8s.io',
      '\r\n',
    ].join('\r\n'),
  );
  await once(socket, 'data');
  return socket;
}

test('whatever a client sends over its WebSocket, its process ends with the connection', async () => {
  await fuzz({ samples, rounds: 150 }, async (input, random) => {
    const socket = await upgraded();
    socket.resume();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (const piece of pieces(random, input, 400)) socket.write(piece);
    if (random(2) === 0) socket.end();
    else socket.destroySoon();
    await closed;
    await waitFor(() => live === 0 || undefined, { intervalMs: 1, signal: AbortSignal.timeout(60_000) });
  });
});

test('any message is decoded to a channel and a payload, or ignored', async () => {
  await fuzz({ samples: [Buffer.from('0aGVsbG8='), Buffer.from([0, 1, 2, 3])], rounds: 3000 }, (input, random) => {
    const base64 = random(2) === 0;
    const decoded = decodeMessage(input, base64);
    if (decoded === undefined) return assert.ok(input.length === 0 || (base64 && input[0]! < 0x30));
    const again = decodeMessage(Buffer.from(encodeMessage(decoded.channel, decoded.payload, base64)), base64);
    if (decoded.channel + (base64 ? 0x30 : 0) < 0x80) assert.deepEqual(again, decoded);
  });
});
