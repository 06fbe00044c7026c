import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { PodwrightError, raceAbort, Timer, wrapError } from '@podwright/base';
import { encodeFrame, type Frame, FrameDecoder, frameType, MAX_FRAME_BYTES } from './frame.ts';
import { RequestSchema, ResponseSchema } from './gen/ttrpc/request_pb.js';
import { CALL_TIMEOUT_MS } from './limits.ts';
import type { CallOptions, TtrpcClient, TypedService } from './service.ts';
import { errorOfStatus } from './status.ts';

const MAX_STREAM_ID = 0xffff_fffe;

type Waiting = { what: string; resolve(payload: Uint8Array): void; reject(error: unknown): void };

type Call = { service: string; method: DescMethod; payload: () => Uint8Array };

/** The client side of a ttrpc connection. Calls run concurrently; all of them fail when the connection is lost. */
export class TtrpcConnection {
  readonly #stream: Duplex;
  readonly #decoder = new FrameDecoder();
  readonly #waiting = new Map<number, Waiting>();
  /** The encoded requests without payloads, one for each method, as last called. */
  readonly #heads = new Map<string, { timeoutMs: number; head: Uint8Array }>();
  readonly #closed = Promise.withResolvers<void>();
  #nextStreamId = 1;
  #lost: PodwrightError | undefined;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => {
      for (const frame of this.#decoder.push(chunk)) this.#answer(frame);
    });
    stream.on('error', (error) => this.#lose(wrapError('ttrpc connection', error, 'unavailable')));
    stream.on('close', () => this.#lose(new PodwrightError('unavailable', 'the ttrpc connection is closed')));
    stream.on('end', () => stream.destroy());
  }

  /** Connects to a unix socket. Rejects with `unavailable` if no process is listening on it. */
  static async connect(path: string, signal: AbortSignal): Promise<TtrpcConnection> {
    const socket = connect(path);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once('connect', resolve).once('error', reject);
    try {
      await raceAbort(promise, signal);
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw wrapError(`connect to ${path.replace('\0', '@')}`, error, 'unavailable');
    }
    socket.off('error', reject);
    return new TtrpcConnection(socket);
  }

  /** Resolves when the connection to the server is lost or closed. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get isOpen(): boolean {
    return this.#lost === undefined;
  }

  /** Returns a client for a service. `typeName` overrides the service name in the descriptor. */
  client<S extends TypedService>(service: S, { typeName = service.typeName } = {}): TtrpcClient<S> {
    const call = (method: DescMethod) => (request: Message, options?: CallOptions) =>
      this.#call(
        { service: typeName, method, payload: () => toBinary(method.input, create(method.input, request)) },
        options,
      );
    const methods = service.methods.map((method) => [method.localName, call(method)]);
    return Object.fromEntries(methods) as TtrpcClient<S>;
  }

  /** Calls a method with a request that is already encoded, so that it can be sent to several servers without encoding it for each. */
  async call<M extends DescMethod>(
    method: M,
    request: Uint8Array,
    options?: CallOptions,
  ): Promise<MessageShape<M['output']>> {
    const call = { service: method.parent.typeName, method, payload: () => request };
    return (await this.#call(call, options)) as MessageShape<M['output']>;
  }

  close(): void {
    this.#stream.destroy();
    this.#lose(new PodwrightError('cancelled', 'the ttrpc connection was closed'));
  }

  async #call(
    { service, method, payload }: Call,
    { signal, timeoutMs = CALL_TIMEOUT_MS }: CallOptions = {},
  ): Promise<Message> {
    const what = `${service}/${method.name}`;
    if (method.methodKind !== 'unary') throw new PodwrightError('unimplemented', `${what}: streaming is not supported`);
    signal?.throwIfAborted();
    const request = encodeRequest(this.#head(what, { service, method, timeoutMs }), payload());
    const { streamId, answer } = this.#send(what, request);
    // a timer rather than a signal with a timeout, because creating an AbortController costs as much as encoding a small message
    using _timer = timeoutMs === 0 ? undefined : new Timer(() => this.#expire(streamId, timeoutMs), timeoutMs);
    try {
      return decodeAnswer(what, method.output, await (signal === undefined ? answer : raceAbort(answer, signal)));
    } finally {
      this.#waiting.delete(streamId);
    }
  }

  /** Returns the encoded request without its payload. It is the same for all calls of a method with the same timeout. */
  #head(what: string, { service, method, timeoutMs }: Omit<Call, 'payload'> & { timeoutMs: number }): Uint8Array {
    const known = this.#heads.get(what);
    if (known?.timeoutMs === timeoutMs) return known.head;
    const timeoutNano = BigInt(Math.ceil(timeoutMs)) * 1_000_000n;
    const head = toBinary(RequestSchema, create(RequestSchema, { service, method: method.name, timeoutNano }));
    this.#heads.set(what, { timeoutMs, head });
    return head;
  }

  #expire(streamId: number, timeoutMs: number): void {
    const waiting = this.#waiting.get(streamId);
    waiting?.reject(new PodwrightError('deadline_exceeded', `${waiting.what}: no answer within ${timeoutMs} ms`));
  }

  #send(what: string, data: Uint8Array): { streamId: number; answer: Promise<Uint8Array> } {
    if (this.#lost !== undefined) throw wrapError(what, this.#lost);
    if (data.length > MAX_FRAME_BYTES)
      throw new PodwrightError('resource_exhausted', `${what}: the message has ${data.length} bytes, over 4 MiB`);
    if (this.#nextStreamId > MAX_STREAM_ID) throw new PodwrightError('unavailable', `${what}: all stream ids are used`);
    const streamId = this.#nextStreamId;
    this.#nextStreamId += 2;
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    promise.catch(() => undefined); // an abandoned call does not handle it
    this.#waiting.set(streamId, { what, resolve, reject });
    this.#stream.write(encodeFrame({ streamId, type: frameType.request, flags: 0, data }));
    return { streamId, answer: promise };
  }

  /** Settles the call that a response belongs to. Responses to abandoned calls are ignored. */
  #answer({ streamId, type, data }: Frame): void {
    const waiting = this.#waiting.get(streamId);
    if (waiting === undefined) return;
    this.#waiting.delete(streamId);
    const { what, resolve, reject } = waiting;
    if (type !== frameType.response)
      return reject(new PodwrightError('unimplemented', `${what}: the response is a stream`));
    if (data === undefined)
      return reject(new PodwrightError('resource_exhausted', `${what}: the response is over 4 MiB`));
    try {
      const { status, payload } = decodeAnswer(what, ResponseSchema, data);
      if (status === undefined || status.code === 0) resolve(payload);
      else reject(errorOfStatus(what, status));
    } catch (error) {
      reject(error);
    }
  }

  #lose(reason: PodwrightError): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    for (const { what, reject } of this.#waiting.values()) reject(wrapError(what, reason));
    this.#waiting.clear();
    this.#closed.resolve();
  }
}

function encodeRequest(head: Uint8Array, payload: Uint8Array): Uint8Array {
  return new BinaryWriter()
    .raw(head)
    .tag(RequestSchema.field.payload.number, WireType.LengthDelimited)
    .bytes(payload)
    .finish();
}

function decodeAnswer<S extends DescMessage>(what: string, schema: S, bytes: Uint8Array): MessageShape<S> {
  try {
    return fromBinary(schema, bytes);
  } catch (error) {
    throw wrapError(`${what}: decode the response`, error, 'internal');
  }
}
