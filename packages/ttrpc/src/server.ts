import { createServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { create, type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { errorMessage, type Logger, PodwrightError, Timer } from '@podwright/base';
import { listenUnix, type SocketFile } from '@podwright/host';
import { encodeFrame, type Frame, FrameDecoder, frameType, MAX_FRAME_BYTES } from './frame.ts';
import { type Request, RequestSchema, type Response, ResponseSchema } from './gen/ttrpc/request_pb.js';
import { MAX_CALLS, MAX_UNSENT_BYTES } from './limits.ts';
import type { TtrpcHandlers, TypedService } from './service.ts';
import { statusOfError } from './status.ts';

type Handler = (request: Message, signal: AbortSignal) => Promise<Message>;

/** A ttrpc server for any number of connections and services. Streaming calls are rejected. */
export class TtrpcServer {
  readonly #methods = new Map<string, { method: DescMethod; handler: Handler }>();
  readonly #connections = new Set<Duplex>();
  readonly #logger: Logger;
  #listening: { server: Server; file: SocketFile } | undefined;

  constructor({ logger }: { logger: Logger }) {
    this.#logger = logger;
  }

  /** Registers a service and its handlers. */
  add<S extends TypedService>(service: S, handlers: TtrpcHandlers<S>): void {
    for (const method of service.methods) {
      const handler = (handlers as Record<string, unknown>)[method.localName] as Handler;
      this.#methods.set(`${service.typeName}/${method.name}`, { method, handler });
    }
  }

  /** Listens on a unix socket with the given permissions. Replaces a stale socket. */
  async listen(path: string, mode: number): Promise<void> {
    const server = createServer((socket) => this.serve(socket));
    this.#listening = { server, file: await listenUnix(server, path, mode) };
  }

  /** Serves one connection until it is closed. */
  serve(stream: Duplex): void {
    const calls = new Set<AbortController>();
    const decoder = new FrameDecoder();
    this.#connections.add(stream);
    stream.on('data', (chunk: Buffer) => {
      for (const frame of decoder.push(chunk)) this.#accept({ stream, calls, frame });
    });
    stream.on('end', () => stream.end());
    stream.on('error', (error) => this.#logger.debug({ error: errorMessage(error) }, 'ttrpc connection'));
    stream.on('close', () => {
      this.#connections.delete(stream);
      for (const call of calls) call.abort(new PodwrightError('cancelled', 'the client has disconnected'));
    });
  }

  /** Closes all connections and removes the socket. */
  async close(): Promise<void> {
    this.#listening?.server.close();
    for (const connection of this.#connections) connection.destroy();
    await this.#listening?.file.remove();
  }

  #accept({ stream, calls, frame }: { stream: Duplex; calls: Set<AbortController>; frame: Frame }): void {
    const call = new AbortController();
    const answer = (response: { status?: { code: number; message: string }; payload?: Uint8Array }) => {
      calls.delete(call);
      send(stream, frame.streamId, create(ResponseSchema, response));
    };
    const refuse = (error: unknown) => answer({ status: statusOfError(error) });
    if (calls.size >= MAX_CALLS) return refuse(new PodwrightError('resource_exhausted', 'too many calls at once'));
    calls.add(call);
    this.#run(frame, call).then((payload) => answer({ payload }), refuse);
  }

  async #run({ streamId, type, flags, data }: Frame, call: AbortController): Promise<Uint8Array> {
    if (data === undefined) throw new PodwrightError('resource_exhausted', 'the message is over 4 MiB');
    if (streamId % 2 === 0) throw new PodwrightError('invalid_argument', `stream id ${streamId} is even`);
    if (type !== frameType.request || flags !== 0)
      throw new PodwrightError('unimplemented', 'streaming is not supported');
    const request = decodeMessage('a ttrpc request', () => fromBinary(RequestSchema, data));
    const name = `${request.service}/${request.method}`;
    const found = this.#methods.get(name);
    if (found === undefined) throw new PodwrightError('unimplemented', `there is no method ${name}`);
    const { method, handler } = found;
    const message = decodeMessage(name, () => fromBinary(method.input, request.payload));
    using _timer = new Timer(() => call.abort(new PodwrightError('deadline_exceeded', name)), timeoutOf(request));
    return toBinary(method.output, create(method.output, await handler(message, call.signal)));
  }
}

function send(stream: Duplex, streamId: number, response: Response): void {
  if (stream.destroyed || stream.writableEnded) return;
  const data = toBinary(ResponseSchema, response);
  if (data.length > MAX_FRAME_BYTES) {
    const status = statusOfError(new PodwrightError('resource_exhausted', 'the response is over 4 MiB'));
    return send(stream, streamId, create(ResponseSchema, { status }));
  }
  stream.write(encodeFrame({ streamId, type: frameType.response, flags: 0, data }));
  if (stream.writableLength > MAX_UNSENT_BYTES) stream.destroy();
}

function timeoutOf({ timeoutNano }: Request): number {
  const timeoutMs = Number(timeoutNano) / 1e6;
  return timeoutMs > 0 ? timeoutMs : Number.POSITIVE_INFINITY;
}

function decodeMessage<T>(what: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new PodwrightError('invalid_argument', `${what}: ${errorMessage(error)}`);
  }
}
