import type { OnReadOpts, Socket } from 'node:net';
import { ignoreFailure, PodwrightError, wrapError } from '@podwright/base';
import { END_CODE } from '../http2/end-codes.ts';
import { CLIENT_PREFACE, MOST_STREAM_ID } from '../http2/frames.ts';
import type { Headers } from '../http2/header-blocks.ts';
import { Http2Connection } from '../http2/http2-connection.ts';
import type { Http2Stream, StreamListener } from '../http2/http2-stream.ts';
import { settingsFrame } from '../http2/peer-settings.ts';
import { HTTP2_CONNECT_TIMEOUT_MS } from '../limits.ts';

/** The server that a session connects to. `name` is used in error messages; `dial` opens a socket with the given `onread` option. */
export type SessionTarget = { name: string; dial: (onread: OnReadOpts) => Socket };

const READ_BYTES = 65_536;
/** Receive window of a stream. A list of hundreds of containers fits in it, so the server need not wait for window updates. */
const WINDOW_BYTES = 1 << 20;
/** Maximum size of a response's header list. gRPC error messages arrive in headers and may be long. */
const MAX_HEADER_LIST_BYTES = 1 << 20;

/**
 * A single HTTP/2 client connection. It keeps the process alive while it is connecting and while a call is in flight.
 *
 * This is a custom HTTP/2 implementation: gRPC needs little of HTTP/2, and node:http2 takes nearly twice the CPU time per call.
 */
export class Session {
  readonly #target: SessionTarget;
  readonly #socket: Socket;
  readonly #onClose: () => void;
  readonly #connection: Http2Connection;
  readonly #connected = Promise.withResolvers<void>();
  /** Calls waiting because the server's limit on concurrent streams has been reached. */
  readonly #waiting = new Set<Http2Stream>();
  #nextStreamId = 1;
  /** The last stream that the server will process, according to its GOAWAY; `Infinity` until a GOAWAY is received. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #isDestroyed = false;
  #error: unknown;

  /** `onClose` is called when the session has ended. */
  constructor(target: SessionTarget, onClose: () => void) {
    this.#target = target;
    this.#onClose = onClose;
    const callback = (size: number, buffer: Uint8Array) => {
      this.#connection.push((buffer as Buffer).subarray(0, size));
      return true;
    };
    this.#socket = target.dial({ buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback });
    const limits = {
      streamWindowBytes: WINDOW_BYTES,
      windowBytes: WINDOW_BYTES,
      headerListBytes: MAX_HEADER_LIST_BYTES,
    };
    this.#connection = new Http2Connection(this.#socket, this.#role, limits);
    this.#socket.on('error', (error) => this.#fail(error));
    for (const event of ['end', 'close']) this.#socket.once(event, () => this.destroy()); // no responses follow
    const settings = { enablePush: 0, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_LIST_BYTES };
    this.#socket.write(Buffer.concat([CLIENT_PREFACE, settingsFrame(settings)]));
    ignoreFailure(this.#connected.promise, 'calls that wait for the connection receive the error');
  }

  /** Whether new calls can be started on this session. */
  get isUsable(): boolean {
    return !this.#isDestroyed && this.#lastStreamId === Number.POSITIVE_INFINITY && this.#nextStreamId < MOST_STREAM_ID;
  }

  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  /**
   * Resolves once the server has sent its settings, which must be its first frame (RFC 9113, 3.4). Rejects with `unavailable` on timeout or
   * if no server is listening.
   */
  async connected(): Promise<void> {
    const late = setTimeout(
      () => this.#fail(new PodwrightError('unavailable', `no answer for ${HTTP2_CONNECT_TIMEOUT_MS / 1000} s`)),
      HTTP2_CONNECT_TIMEOUT_MS,
    );
    late.unref();
    try {
      await this.#connected.promise;
    } finally {
      clearTimeout(late);
    }
    this.#connection.widen();
    if (this.#calls === 0) this.#socket.unref();
  }

  /**
   * Starts a call with the given header block and complete body; without a body, the caller sends the request on the returned stream.
   * Throws `unavailable` if the connection has been lost.
   */
  begin({ head, body }: { head: Buffer; body?: Buffer }, listener: StreamListener): Http2Stream {
    if (!this.isUsable) throw this.failure();
    if (this.#calls === 0) this.#socket.ref();
    const stream = this.#connection.stream(listener);
    stream.send({ head, data: body, isLast: body !== undefined });
    if (this.#waiting.size > 0 || this.#mayNotOpen) this.#waiting.add(stream);
    else this.#open(stream);
    return stream;
  }

  /**
   * Whether this closed stream has a higher ID than the last one in the server's GOAWAY, which means that the server has not processed it.
   */
  hasPassedOver({ id }: Http2Stream): boolean {
    return this.#lastStreamId < (id === 0 ? Number.POSITIVE_INFINITY : id);
  }

  /** Returns the error for a call whose stream was closed before the server ended it. */
  failure(): PodwrightError {
    const what = `the connection to ${this.#target.name} was lost`;
    if (this.#error === undefined) return new PodwrightError('unavailable', what);
    return wrapError(what, reasonOf(this.#error), 'unavailable');
  }

  /** Closes the connection, which ends its calls immediately. */
  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#socket.destroy();
    const why = this.#error && wrapError(`connect to ${this.#target.name}`, reasonOf(this.#error), 'unavailable');
    this.#connected.reject(why ?? this.failure());
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#connection.close();
    for (const stream of waiting) stream.close(END_CODE.cancel);
    this.#onClose();
  }

  get #calls(): number {
    return this.#connection.streams.size + this.#waiting.size;
  }

  get #mayNotOpen(): boolean {
    return this.#connection.streams.size >= this.#connection.peer.maxStreams;
  }

  readonly #role = {
    isIdle: (streamId: number) => streamId >= this.#nextStreamId || streamId % 2 === 0,
    onHeaders: ({ streamId, fields, endsStream }: Headers) => {
      const stream = this.#connection.streams.get(streamId);
      stream?.receiveHeaders(fields, endsStream);
      if (endsStream && stream !== undefined && stream.closeCode === undefined) this.#connection.endByPeer(stream);
    },
    /** Called when the server has ended its side of the stream, possibly before reading the whole request. */
    onEnd: (stream: Http2Stream) => {
      if (stream.unsent.length > 0 || !stream.isLast) stream.cut(END_CODE.noError);
      else this.#connection.end(stream, END_CODE.noError);
    },
    onClosed: (stream: Http2Stream) => {
      this.#waiting.delete(stream);
      this.#afterCall();
    },
    onSettings: () => {
      this.#connected.resolve();
      this.#openWaiting();
    },
    onGoAway: (lastStreamId: number, code: number) => this.#receiveGoAway(lastStreamId, code),
    onBroken: (error: unknown) =>
      this.#fail(
        this.#connection.isGreeted ? error : new PodwrightError('unavailable', 'the server does not speak HTTP/2'),
      ),
  };

  #fail(error: unknown): void {
    this.#error ??= error;
    this.destroy();
  }

  #openWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#mayNotOpen) return;
      this.#waiting.delete(stream);
      this.#open(stream);
    }
  }

  #open(stream: Http2Stream): void {
    this.#connection.open(stream, this.#nextStreamId);
    this.#nextStreamId += 2;
  }

  #afterCall(): void {
    if (!this.isUsable) {
      if (this.#calls === 0) this.destroy();
      return;
    }
    if (this.#waiting.size > 0) this.#openWaiting();
    if (this.#calls === 0) this.#socket.unref();
  }

  #receiveGoAway(lastStreamId: number, code: number): void {
    this.#lastStreamId = lastStreamId;
    if (code !== END_CODE.noError) throw new Error(`Session closed with error code ${code}`);
    const all = [...this.#connection.streams.values(), ...this.#waiting];
    const passedOver = all.filter((one) => this.hasPassedOver(one));
    this.#waiting.clear();
    for (const stream of passedOver) this.#connection.end(stream, END_CODE.refusedStream);
    if (this.#calls === 0) this.destroy();
  }
}

/**
 * If a host name with several addresses could not be reached, returns the error for the first address. Other errors are returned unchanged.
 */
function reasonOf(error: unknown): unknown {
  return error instanceof AggregateError ? error.errors[0] : error;
}
