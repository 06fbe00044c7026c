import type { Duplex } from 'node:stream';
import { PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import { PAUSED_PING_MS, REPLY_TIMEOUT_MS } from '../limits.ts';
import { lingeringClose } from '../lingering-close.ts';
import { type CountBuffer, ignoreBuffer } from '../read-buffers.ts';
import { encodeControl, encodeDataHead, FLAG_FIN, type Frame, FrameParser, FrameType, uint32 } from './frames.ts';
import { HeaderCodec, type SpdyHeaders } from './header-block.ts';
import { SpdyStream, type StreamCarrier } from './stream.ts';

const RST_PROTOCOL_ERROR = 1;
const RST_REFUSED_STREAM = 3;
const RST_CANCEL = 5;
/** Maximum number of streams per connection. A remote command needs at most five; port-forwarding needs two per forwarded connection. */
const MAX_STREAMS = 512;
/** Maximum total number of unread bytes in slow streams. Above it, the whole connection is paused. */
const MAX_UNREAD_BYTES = 1 << 20;
/** Maximum number of bytes of replies (to pings and new streams) that the peer may leave unread. More than that indicates an attack. */
const MAX_UNSENT_ANSWER_BYTES = 256 << 10;
/** Maximum size of an outgoing data frame. The length field has only 24 bits, and large frames would delay those of other streams. */
const MAX_DATA_BYTES = 256 << 10;

export type SpdyConnectionOptions = {
  /** Determines stream IDs: streams opened by the client have odd IDs, those opened by the server even ones. */
  role: 'client' | 'server';
  /** Called for each stream that the peer opens. If it returns `refuse`, the stream is reset. */
  onStream?: (stream: SpdyStream) => 'accept' | 'refuse';
  /** Bytes received together with the upgrade response. */
  head?: Buffer;
  countBuffer?: CountBuffer;
};

type Reply = { resolve: () => void; reject: (error: unknown) => void };

/**
 * A SPDY/3.1 connection on an upgraded byte stream. There is no per-stream flow control, because the Go implementation that Kubernetes uses
 * never sends WINDOW_UPDATE. Slow readers block the whole connection once 1 MiB is unread. The connection ends as soon as either direction
 * of its transport ends.
 */
export class SpdyConnection {
  readonly streams = new Map<number, SpdyStream>();
  /** Resolves when the transport is closed. */
  readonly closed: Promise<void>;
  /** A signal that aborts as soon as sending or receiving becomes impossible, before the streams end. */
  readonly gone: AbortSignal;
  readonly #gone = new AbortController();
  readonly #transport: Duplex;
  readonly #options: SpdyConnectionOptions;
  readonly #carrier: StreamCarrier;
  readonly #parser = new FrameParser();
  readonly #headers = new HeaderCodec();
  readonly #behind = new Set<SpdyStream>();
  readonly #replies = new Map<number, Reply>();
  readonly #countBuffer: CountBuffer;
  readonly #pinging: NodeJS.Timeout;
  #nextId: number;
  #lastTheirId = 0;
  #unsentAnswerBytes = 0;

  constructor(transport: Duplex, options: SpdyConnectionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#countBuffer = options.countBuffer ?? ignoreBuffer;
    this.#nextId = options.role === 'client' ? 1 : 2;
    this.gone = this.#gone.signal;
    this.#carrier = {
      send: (streamId, payload, rest) => this.#send(streamId, payload, rest),
      reset: (streamId) => this.#answer(encodeControl(FrameType.rstStream, 0, uint32(streamId, RST_CANCEL))),
      resume: (stream) => this.#caughtUp(stream),
      forget: (stream) => {
        this.streams.delete(stream.id);
        this.#caughtUp(stream);
      },
    };
    this.#pinging = setInterval(() => this.#pingIfPaused(), PAUSED_PING_MS).unref();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    if (options.head !== undefined && options.head.length > 0) transport.unshift(options.head);
    transport.on('data', (chunk: Buffer) => this.#receive(chunk));
    transport.on('error', (error) => this.#fail(error));
    transport.on('end', () => this.#fail());
    transport.on('close', () => {
      this.#fail();
      resolve();
    });
    if (transport.destroyed || transport.readableEnded) this.#fail();
  }

  /**
   * Opens a stream and waits for the peer's SYN_REPLY. Rejects with `cancelled` if the peer refuses the stream, `unavailable` if the
   * connection has ended, and `deadline_exceeded` after 30 s without a reply.
   */
  async open(headers: SpdyHeaders): Promise<SpdyStream> {
    if (this.gone.aborted) throw connectionEnded();
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = this.#add(id, headers);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#replies.set(id, { resolve, reject });
    const head = Buffer.concat([uint32(id, 0), Buffer.alloc(2)]);
    this.#transport.write(encodeControl(FrameType.synStream, 0, Buffer.concat([head, this.#headers.encode(headers)])));
    using deadline = withTimeout(undefined, REPLY_TIMEOUT_MS, 'open a SPDY stream');
    try {
      await raceAbort(promise, deadline);
      return stream;
    } catch (error) {
      this.#replies.delete(id);
      stream.destroy();
      throw error;
    }
  }

  /** Sends GOAWAY and ends the connection after sending pending data. Streams that are still open are lost. */
  close(): void {
    if (this.gone.aborted) return;
    this.#end(connectionEnded());
    lingeringClose(this.#transport, encodeControl(FrameType.goAway, 0, uint32(this.#lastTheirId, 0)));
  }

  destroy(): void {
    this.#fail();
  }

  #send(streamId: number, payload: Buffer, options: { fin: boolean; done: (error?: Error | null) => void }): void {
    if (this.gone.aborted || !this.#transport.writable) return options.done(connectionEnded());
    this.#countBuffer(payload.length);
    this.#transport.cork();
    let offset = 0;
    for (; payload.length - offset > MAX_DATA_BYTES; offset += MAX_DATA_BYTES) {
      this.#transport.write(encodeDataHead(streamId, { fin: false, length: MAX_DATA_BYTES }));
      this.#transport.write(payload.subarray(offset, offset + MAX_DATA_BYTES));
    }
    this.#transport.write(encodeDataHead(streamId, { fin: options.fin, length: payload.length - offset }));
    this.#transport.write(payload.subarray(offset), options.done);
    this.#transport.uncork();
  }

  /**
   * Writes a frame in reply to one of the peer's. Counts its bytes until they are written, because the connection fails if the peer leaves
   * too many replies unread.
   */
  #answer(frame: Buffer): void {
    if (this.gone.aborted || !this.#transport.writable) return;
    this.#unsentAnswerBytes += frame.length;
    this.#transport.write(frame, () => {
      this.#unsentAnswerBytes -= frame.length;
    });
  }

  #add(id: number, headers: SpdyHeaders): SpdyStream {
    const stream = new SpdyStream(this.#carrier, id, headers);
    this.streams.set(id, stream);
    return stream;
  }

  #receive(chunk: Buffer): void {
    this.#countBuffer(chunk.length);
    try {
      for (const frame of this.#parser.push(chunk)) {
        if (this.gone.aborted) return; // the connection is closing: received data is discarded
        this.#handle(frame);
        if (this.#unsentAnswerBytes > MAX_UNSENT_ANSWER_BYTES)
          throw new PodwrightError('resource_exhausted', 'answer SPDY frames: the peer does not read the answers');
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #handle(frame: Frame): void {
    if (frame.kind === 'data') return this.#handleData(frame);
    const { type, payload, flags } = frame;
    const id = payload.length >= 4 ? payload.readUInt32BE(0) & 0x7fff_ffff : 0;
    if (type === FrameType.synStream) this.#handleOpen(id, flags, payload);
    else if (type === FrameType.synReply) this.#handleReply(id, flags, payload);
    else if (type === FrameType.rstStream) this.#handleReset(id);
    else if (type === FrameType.ping) this.#handlePing(id);
    else if (type === FrameType.headers) this.#headers.decode(payload.subarray(4)); // decoding updates the state of the zlib stream
    // SETTINGS, GOAWAY and WINDOW_UPDATE have no effect; unknown frame types must be ignored.
  }

  /** Delivers data to its stream. Ignores data for an unknown stream, or for a stream that was reset while the data was in flight. */
  #handleData({ streamId, payload, fin }: Extract<Frame, { kind: 'data' }>): void {
    const stream = this.streams.get(streamId);
    if (stream === undefined) return;
    if (payload.length > 0 && !stream.deliver(payload)) {
      this.#behind.add(stream);
      if (this.#unreadBytes() > MAX_UNREAD_BYTES) this.#transport.pause();
    }
    if (fin) stream.deliverEnd();
  }

  #handleOpen(id: number, flags: number, payload: Buffer): void {
    const headers = this.#headers.decode(payload.subarray(10));
    const theirs = this.#options.role === 'client' ? 0 : 1;
    if (id % 2 !== theirs || id <= this.#lastTheirId)
      return this.#answer(encodeControl(FrameType.rstStream, 0, uint32(id, RST_PROTOCOL_ERROR)));
    this.#lastTheirId = id;
    const refused = encodeControl(FrameType.rstStream, 0, uint32(id, RST_REFUSED_STREAM));
    if (this.streams.size >= MAX_STREAMS) return this.#answer(refused);
    const stream = this.#add(id, headers);
    if (this.#options.onStream?.(stream) !== 'accept') {
      this.#answer(refused);
      return stream.deliverLoss();
    }
    this.#answer(encodeControl(FrameType.synReply, 0, Buffer.concat([uint32(id), this.#headers.encode({})])));
    if (flags & FLAG_FIN) stream.deliverEnd();
  }

  #handleReply(id: number, flags: number, payload: Buffer): void {
    this.#headers.decode(payload.subarray(4));
    this.#replies.get(id)?.resolve();
    this.#replies.delete(id);
    if (flags & FLAG_FIN) this.streams.get(id)?.deliverEnd();
  }

  #handleReset(id: number): void {
    this.#replies.get(id)?.reject(new PodwrightError('cancelled', `SPDY stream ${id}: reset by the peer`));
    this.#replies.delete(id);
    this.streams.get(id)?.deliverLoss();
  }

  /** Replies to the peer's pings. A ping whose ID has this side's parity is the reply to one of this side's pings. */
  #handlePing(id: number): void {
    const ours = this.#options.role === 'client' ? 1 : 0;
    if (id % 2 !== ours) this.#answer(encodeControl(FrameType.ping, 0, uint32(id)));
  }

  /** Pings the peer while the transport is paused: a paused socket does not notice that its peer has closed, but a write does. */
  #pingIfPaused(): void {
    if (this.#transport.isPaused() && this.#unsentAnswerBytes === 0)
      this.#answer(encodeControl(FrameType.ping, 0, uint32(this.#options.role === 'client' ? 1 : 2)));
  }

  #unreadBytes(): number {
    let sum = 0;
    for (const stream of this.#behind) sum += stream.readableLength;
    return sum;
  }

  #caughtUp(stream: SpdyStream): void {
    if (this.#behind.delete(stream) && this.#unreadBytes() <= MAX_UNREAD_BYTES) this.#transport.resume();
  }

  #fail(cause: unknown = connectionEnded()): void {
    this.#end(cause);
    this.#transport.destroy();
  }

  #end(cause: unknown): void {
    if (this.gone.aborted) return;
    clearInterval(this.#pinging);
    this.#gone.abort(cause);
    for (const reply of this.#replies.values()) reply.reject(cause);
    this.#replies.clear();
    for (const stream of [...this.streams.values()]) stream.deliverLoss();
  }
}

const connectionEnded = () => new PodwrightError('unavailable', 'the SPDY connection has ended');
