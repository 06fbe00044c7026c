/** An HTTP/2 client that sends individual frames, including ones that no library would send. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Logger, silentLogger, waitFor } from '@podwright/base';
import { Test } from '../gen/podwright/test/v1/test_pb.js';
import { FrameReader } from '../http2/frame-reader.ts';
import { CLIENT_PREFACE, FRAME_TYPE, type FrameHeader, frame, headersFrames } from '../http2/frames.ts';
import { HpackDecoder } from '../http2/hpack-decoder.ts';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { withPrefix } from '../message-reader.ts';
import { handleService, type ServiceHandlers } from './handlers.ts';
import type { TcpOptions } from './listeners.ts';
import { type ListeningServer, serveServices } from './serve-services.ts';

export const SETTINGS = frame({ type: FRAME_TYPE.settings });

type TestHandlers = Partial<ServiceHandlers<typeof Test>>;
type Served = { handlers?: TestHandlers; logger?: Logger; tcp?: TcpOptions };

const echoHandlers: TestHandlers = { echo: async ({ text }) => ({ text }) };

/** Starts a gRPC server on a Unix socket. By default, it serves only the Echo method. */
export async function openServer(
  t: TestContext,
  { handlers = echoHandlers, logger = silentLogger, tcp }: Served = {},
): Promise<{ server: ListeningServer; path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-session-'));
  const path = join(directory, 'cri.sock');
  const server = await serveServices([handleService(Test, handlers)], { socket: path, tcp, logger });
  t.after(async () => {
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  return { server, path };
}

export async function startServer(t: TestContext, options?: Served): Promise<string> {
  return (await openServer(t, options)).path;
}

export function requestHeaders(method: string, ...more: HeaderField[]): HeaderField[] {
  return [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', `/podwright.test.v1.Test/${method}`],
    ...more,
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
  ];
}

export function callFrames(streamId: number, fields: readonly HeaderField[], message: Uint8Array): Buffer {
  const headers = headersFrames(encodeLiterals(fields), { streamId, endStream: false });
  return Buffer.concat([headers, frame({ type: FRAME_TYPE.data, flags: 1, streamId }, withPrefix(message))]);
}

type Frame = FrameHeader & { payload: Buffer };
type Reply = { fields: Record<string, string>; message: Buffer; status?: string; resetCode?: number };

export class BareClient {
  readonly socket: Socket;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<unknown>;
  receivedBytes = 0;
  readonly #frames: Frame[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    const reader = new FrameReader((header, payload) =>
      this.#frames.push({ ...header, payload: Buffer.from(payload) }),
    );
    socket.on('data', (chunk) => {
      this.receivedBytes += chunk.length;
      reader.push(chunk);
    });
    socket.on('error', () => undefined);
  }

  /** Connects to the server and sends `first` (default: the HTTP/2 preface and settings). */
  static async open(
    t: TestContext,
    address: string | { port: number },
    first = Buffer.concat([CLIENT_PREFACE, SETTINGS]),
  ): Promise<BareClient> {
    const socket = typeof address === 'string' ? connect(address) : connect(address.port, '127.0.0.1');
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    socket.write(first);
    return new BareClient(socket);
  }

  send(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  frames(): readonly Frame[] {
    return this.#frames;
  }

  frame(isIt: (frame: Frame) => boolean): Promise<Frame> {
    return waitFor(() => this.frames().find(isIt), { intervalMs: 5, signal: AbortSignal.timeout(20_000) });
  }

  /** Waits until the stream has ended. Returns its message and gRPC status, or the HTTP/2 error code of its reset. */
  async reply(streamId: number): Promise<Reply> {
    const isEnd = ({ type, flags }: Frame) =>
      type === FRAME_TYPE.resetStream || (type === FRAME_TYPE.headers && flags & 1);
    await this.frame((one) => one.streamId === streamId && Boolean(isEnd(one)));
    const decoder = new HpackDecoder({ tableBytes: 4096, listBytes: 65_536 });
    const reply: Reply = { fields: {}, message: Buffer.alloc(0) };
    const data: Buffer[] = [];
    for (const { type, streamId: id, payload } of this.#frames) {
      const fields = type === FRAME_TYPE.headers ? decoder.decode(payload) : [];
      if (id !== streamId) continue;
      Object.assign(reply.fields, Object.fromEntries(fields));
      if (type === FRAME_TYPE.data) data.push(payload);
      if (type === FRAME_TYPE.resetStream) reply.resetCode = payload.readUInt32BE(0);
    }
    return { ...reply, status: reply.fields['grpc-status'], message: Buffer.concat(data).subarray(5) };
  }

  /** Waits until the connection has ended. Returns the error code in the server's GOAWAY, or 'nothing' if the server sent none. */
  async end(): Promise<{ code: number; why: string } | 'nothing'> {
    await this.closed;
    const goAway = this.frames().findLast(({ type }) => type === FRAME_TYPE.goAway);
    if (goAway === undefined) return 'nothing';
    return { code: goAway.payload.readUInt32BE(4), why: goAway.payload.toString('latin1', 8) };
  }
}
