import { PassThrough, type Readable, Writable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { StreamChoice } from '../remote-process.ts';
import { hasStructuredStatus } from './protocols.ts';
import type { CommandStreams } from './session.ts';

/** Channel numbers: the first byte of each message (k8s.io/streaming wsstream). */
const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** A message waits in our memory until the socket takes it; beyond this the writer waits. */
const HIGH_WATER_BYTES = 1 << 20;

/** The streams of a remote command as channels of a WebSocket. From v5 on the client can close stdin alone. */
export function webSocketCommand(socket: WebSocket, choice: StreamChoice): CommandStreams {
  const stdin = choice.stdin ? new PassThrough() : undefined;
  const resize = choice.tty ? new PassThrough() : undefined;
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  socket.on('message', (data, isBinary) => {
    const bytes = toBuffer(data);
    if (!isBinary || bytes.length === 0) return;
    const channel = bytes[0]!;
    if (channel === Channel.stdin) deliver(socket, stdin, bytes.subarray(1));
    else if (channel === Channel.resize) resize?.write(bytes.subarray(1));
    else if (channel === Channel.close && bytes[1] === Channel.stdin && socket.protocol === 'v5.channel.k8s.io')
      stdin?.end();
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', () => {
    stdin?.end();
    resize?.end();
    resolve();
  });
  // Kubernetes' clients count a channel as open when its first, empty message has come.
  for (const channel of [Channel.stdin, Channel.stdout, Channel.stderr])
    if (socket.protocol === '') socket.send(Buffer.from([channel]));
  return {
    stdin,
    stdout: choice.stdout ? channelWriter(socket, Channel.stdout) : undefined,
    stderr: choice.stderr && !choice.tty ? channelWriter(socket, Channel.stderr) : undefined,
    resize,
    error: channelWriter(socket, Channel.error),
    structuredStatus: hasStructuredStatus(socket.protocol),
    gone,
  };
}

/** Holds the socket back while the process does not read its input. */
function deliver(socket: WebSocket, target: PassThrough | undefined, bytes: Buffer): void {
  if (target === undefined || target.writableEnded || bytes.length === 0) return;
  if (target.write(bytes)) return;
  socket.pause();
  target.once('drain', () => socket.resume());
}

function channelWriter(socket: WebSocket, channel: number): Writable {
  return new Writable({
    highWaterMark: HIGH_WATER_BYTES,
    write(chunk: Buffer, _encoding, done) {
      if (socket.readyState !== socket.OPEN) return done();
      socket.send(Buffer.concat([Buffer.from([channel]), chunk]), { binary: true }, () => done());
    },
  });
}

/** The bytes of binary messages as one duplex: how SPDY is carried through a WebSocket. */
export function webSocketBytes(socket: WebSocket): { input: Readable; output: Writable } {
  const input = new PassThrough();
  socket.on('message', (data) => {
    if (input.write(toBuffer(data))) return;
    socket.pause();
    input.once('drain', () => socket.resume());
  });
  socket.on('close', () => input.end());
  socket.on('error', () => socket.terminate());
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (socket.readyState !== socket.OPEN) return done();
      socket.send(chunk, { binary: true }, () => done());
    },
    final(done) {
      socket.close();
      done();
    },
  });
  return { input, output };
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
