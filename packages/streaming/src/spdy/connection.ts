import { Duplex } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import { encodeControl, encodeDataHead, FLAG_FIN, type Frame, FrameParser, FrameType, uint32 } from './frames.ts';
import { HeaderCodec, type SpdyHeaders } from './header-block.ts';

const RST_PROTOCOL_ERROR = 1;
const RST_REFUSED_STREAM = 3;
const RST_CANCEL = 5;
/** A remote command has at most five streams, a port-forward two a connection. */
const MAX_STREAMS = 512;

export type SpdyConnectionOptions = {
  /** The client's streams have odd ids, the server's even ones. */
  role: 'client' | 'server';
  /** Called for each stream that the other side opens. A refused stream is reset. */
  onStream?: (stream: SpdyStream) => 'accept' | 'refuse';
  /** Bytes that arrived together with the answer to the upgrade. */
  head?: Buffer;
};

/**
 * One SPDY/3.1 connection on a byte stream that was upgraded to it. There is no per-stream flow control, as the
 * Go implementation that Kubernetes uses never sends WINDOW_UPDATE: a slow reader holds the whole connection back.
 */
export class SpdyConnection {
  readonly streams = new Map<number, SpdyStream>();
  readonly closed: Promise<void>;
  readonly #transport: Duplex;
  readonly #options: SpdyConnectionOptions;
  readonly #parser = new FrameParser();
  readonly #headers = new HeaderCodec();
  readonly #stalled = new Set<SpdyStream>();
  readonly #replies = new Map<number, { resolve: () => void; reject: (error: unknown) => void }>();
  #nextId: number;

  constructor(transport: Duplex, options: SpdyConnectionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#nextId = options.role === 'client' ? 1 : 2;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    transport.on('data', (chunk: Buffer) => this.#receive(chunk));
    transport.on('error', (error) => this.#end(error));
    transport.on('end', () => this.#end());
    transport.on('close', () => {
      this.#end();
      resolve();
    });
    if (options.head !== undefined && options.head.length > 0) this.#receive(options.head);
  }

  /** Opens a stream and waits for the other side's SYN_REPLY. */
  async open(headers: SpdyHeaders): Promise<SpdyStream> {
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = this.#add(id, headers);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#replies.set(id, { resolve, reject });
    const head = Buffer.concat([uint32(id, 0), Buffer.alloc(2)]);
    this.#transport.write(encodeControl(FrameType.synStream, 0, Buffer.concat([head, this.#headers.encode(headers)])));
    await promise;
    return stream;
  }

  /** Says good-bye and ends the connection; streams that are still open end with it. */
  close(): void {
    if (this.#transport.destroyed) return;
    this.#transport.end(encodeControl(FrameType.goAway, 0, uint32(0, 0)));
  }

  destroy(): void {
    this.#transport.destroy();
  }

  /** @internal Sends one data frame; the callback waits for the transport to take it. */
  send(streamId: number, payload: Buffer, options: { fin: boolean; done: (error?: Error | null) => void }): void {
    if (!this.#transport.writable)
      return options.done(new PodwrightError('cancelled', 'write to a SPDY stream: the connection is closed'));
    this.#transport.cork();
    this.#transport.write(encodeDataHead(streamId, { fin: options.fin, length: payload.length }));
    this.#transport.write(payload, options.done);
    this.#transport.uncork();
  }

  /** @internal Tells the other side that a stream is of no more interest. */
  reset(streamId: number): void {
    if (this.#transport.writable)
      this.#transport.write(encodeControl(FrameType.rstStream, 0, uint32(streamId, RST_CANCEL)));
  }

  /** @internal A stream has room again; the transport flows when all have. */
  resume(stream: SpdyStream): void {
    if (this.#stalled.delete(stream) && this.#stalled.size === 0) this.#transport.resume();
  }

  /** @internal */
  forget(stream: SpdyStream): void {
    this.streams.delete(stream.id);
    this.resume(stream);
  }

  #add(id: number, headers: SpdyHeaders): SpdyStream {
    const stream = new SpdyStream(this, id, headers);
    this.streams.set(id, stream);
    return stream;
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#parser.push(chunk)) this.#handle(frame);
    } catch (error) {
      this.#end(error);
      this.#transport.destroy();
    }
  }

  #handle(frame: Frame): void {
    if (frame.kind === 'data') return this.#handleData(frame);
    const { type, payload, flags } = frame;
    const id = payload.length >= 4 ? payload.readUInt32BE(0) & 0x7fff_ffff : 0;
    if (type === FrameType.synStream) this.#handleOpen(id, flags, payload);
    else if (type === FrameType.synReply) this.#handleReply(id, flags, payload);
    else if (type === FrameType.rstStream) this.#handleReset(id);
    else if (type === FrameType.ping) this.#handlePing(payload);
    else if (type === FrameType.headers) this.#headers.decode(payload.subarray(4)); // keeps the zlib stream in step
    // SETTINGS, GOAWAY and WINDOW_UPDATE change nothing here; unknown types must be ignored.
  }

  #handleData(frame: Extract<Frame, { kind: 'data' }>): void {
    const stream = this.streams.get(frame.streamId);
    if (stream === undefined) return; // reset by us while the data was on its way
    if (frame.payload.length > 0 && !stream.deliver(frame.payload)) {
      this.#stalled.add(stream);
      this.#transport.pause();
    }
    if (frame.fin) stream.deliverEnd();
  }

  #handleOpen(id: number, flags: number, payload: Buffer): void {
    const headers = this.#headers.decode(payload.subarray(10));
    const theirs = this.#options.role === 'client' ? 0 : 1;
    if (id === 0 || id % 2 !== theirs || this.streams.has(id)) {
      this.#transport.write(encodeControl(FrameType.rstStream, 0, uint32(id, RST_PROTOCOL_ERROR)));
      return;
    }
    const refused = this.streams.size >= MAX_STREAMS;
    const stream = this.#add(id, headers);
    if (refused || this.#options.onStream?.(stream) !== 'accept') {
      this.streams.delete(id);
      this.#transport.write(encodeControl(FrameType.rstStream, 0, uint32(id, RST_REFUSED_STREAM)));
      return;
    }
    this.#transport.write(encodeControl(FrameType.synReply, 0, Buffer.concat([uint32(id), this.#headers.encode({})])));
    if (flags & FLAG_FIN) stream.deliverEnd();
  }

  #handleReply(id: number, flags: number, payload: Buffer): void {
    this.#headers.decode(payload.subarray(4));
    this.#replies.get(id)?.resolve();
    this.#replies.delete(id);
    if (flags & FLAG_FIN) this.streams.get(id)?.deliverEnd();
  }

  #handleReset(id: number): void {
    const error = new PodwrightError('cancelled', `SPDY stream ${id}: reset by the other side`);
    this.#replies.get(id)?.reject(error);
    this.#replies.delete(id);
    this.streams.get(id)?.deliverReset();
  }

  /** Pings with our own ids would be answers; we send none, so each is a question. */
  #handlePing(payload: Buffer): void {
    this.#transport.write(encodeControl(FrameType.ping, 0, payload.subarray(0, 4)));
  }

  #end(cause?: unknown): void {
    const error = cause ?? new PodwrightError('cancelled', 'the SPDY connection was closed');
    for (const reply of this.#replies.values()) reply.reject(error);
    this.#replies.clear();
    for (const stream of [...this.streams.values()]) stream.deliverReset();
  }
}

/** One stream of a connection: a duplex byte stream whose halves end on their own. */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #connection: SpdyConnection;
  #remoteEnded = false;
  #localEnded = false;

  constructor(connection: SpdyConnection, id: number, headers: SpdyHeaders) {
    super({ allowHalfOpen: true });
    this.id = id;
    this.headers = headers;
    this.#connection = connection;
  }

  override _read(): void {
    this.#connection.resume(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#connection.send(this.id, chunk, { fin: false, done });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#localEnded = true;
    this.#connection.send(this.id, Buffer.alloc(0), { fin: true, done: () => done() });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#remoteEnded || !this.#localEnded) this.#connection.reset(this.id);
    this.#connection.forget(this);
    done(error);
  }

  /** @internal False when the reader has fallen behind. */
  deliver(payload: Buffer): boolean {
    return this.#remoteEnded || this.destroyed || this.push(payload);
  }

  /** @internal The other side will write no more. */
  deliverEnd(): void {
    if (this.#remoteEnded) return;
    this.#remoteEnded = true;
    this.push(null);
  }

  /** @internal The stream is gone; what was received can still be read. */
  deliverReset(): void {
    this.deliverEnd();
    this.#localEnded = true;
    this.#connection.forget(this);
    if (!this.writableFinished) this.destroySoonAfterRead();
  }

  private destroySoonAfterRead(): void {
    if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }
}
