import type { OnReadOpts, Socket } from 'node:net';
import { PodwrightError, wrapError } from '@podwright/base';
import { END_CODE } from '../http2/end-codes.ts';
import { CLIENT_PREFACE, MOST_STREAM_ID } from '../http2/frames.ts';
import type { Headers } from '../http2/header-blocks.ts';
import { Http2Connection } from '../http2/http2-connection.ts';
import type { Http2Stream, StreamListener } from '../http2/http2-stream.ts';
import { settingsFrame } from '../http2/peer-settings.ts';
import { HTTP2_CONNECT_TIMEOUT_MS } from '../limits.ts';

/** Where a session leads: `name` is for messages. The socket is read as `onread` says. */
export type SessionTarget = { name: string; dial: (onread: OnReadOpts) => Socket };

const READ_BYTES = 65_536;
/** How much of an answer may come at once: lists of hundreds of containers come without waiting for us in between. */
const WINDOW_BYTES = 1 << 20;
/** Messages of errors are in a list of headers, and may be long. */
const MAX_HEADER_LIST_BYTES = 1 << 20;

/**
 * One HTTP/2 connection. It keeps a process alive while it is being made, and while a call is under way on it.
 *
 * It speaks HTTP/2 itself: what gRPC needs of it is little, and node:http2 takes nearly twice the processor time for a call.
 */
export class Session {
  readonly #target: SessionTarget;
  readonly #socket: Socket;
  readonly #onClose: () => void;
  readonly #connection: Http2Connection;
  readonly #connected = Promise.withResolvers<void>();
  /** Calls that the other side does not take yet, with their requests. */
  readonly #waiting = new Map<Http2Stream, { head: Buffer; body: Buffer }>();
  #nextStreamId = 1;
  /** The last stream that the other side has looked at, or will, once it says that it takes no more. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #isDestroyed = false;
  /** Why it has broken. */
  #error: unknown;

  /** `onClose` is called when it has ended. */
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
    for (const event of ['end', 'close']) this.#socket.once(event, () => this.destroy()); // no answer comes after the end
    const settings = { enablePush: 0, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_LIST_BYTES };
    this.#socket.write(Buffer.concat([CLIENT_PREFACE, settingsFrame(settings)]));
    this.#connected.promise.catch(() => undefined);
  }

  /** Whether calls may begin on it. */
  get isUsable(): boolean {
    return !this.#isDestroyed && this.#lastStreamId === Number.POSITIVE_INFINITY && this.#nextStreamId < MOST_STREAM_ID;
  }

  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  /**
   * Resolves when the other side has said that it speaks HTTP/2, with the settings that it sends first of all (RFC 9113, 3.4). Rejects
   * with `unavailable` where nobody listens, and where this takes too long.
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

  /** Begins a call, with its header block and its whole body. Throws `unavailable` if the connection has been lost meanwhile. */
  begin(request: { head: Buffer; body: Buffer }, listener: StreamListener): Http2Stream {
    if (!this.isUsable) throw this.failure();
    if (this.#calls === 0) this.#socket.ref();
    const stream = this.#connection.stream(listener);
    if (this.#waiting.size > 0 || this.#mayNotOpen) this.#waiting.set(stream, request);
    else this.#open(stream, request);
    return stream;
  }

  /** Whether the other side has said that it does not look at this stream, which has been cut. */
  hasPassedOver({ id }: Http2Stream): boolean {
    return this.#lastStreamId < (id === 0 ? Number.POSITIVE_INFINITY : id);
  }

  /** Why a call has failed whose stream was cut, rather than ended by the other side. */
  failure(): PodwrightError {
    const what = `the connection to ${this.#target.name} was lost`;
    if (this.#error === undefined) return new PodwrightError('unavailable', what);
    return wrapError(what, reasonOf(this.#error), 'unavailable');
  }

  /** Ends it and its calls, now. */
  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#socket.destroy();
    const why = this.#error && wrapError(`connect to ${this.#target.name}`, reasonOf(this.#error), 'unavailable');
    this.#connected.reject(why ?? this.failure());
    const waiting = [...this.#waiting.keys()];
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
    /** The other side has said all, also if it has not heard all. */
    onEnd: (stream: Http2Stream) => {
      if (stream.unsent.length > 0) stream.cut(END_CODE.noError);
      else this.#connection.end(stream, END_CODE.noError);
    },
    onGone: (stream: Http2Stream) => {
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
        this.#connection.isGreeted ? error : new PodwrightError('unavailable', 'what answers speaks no HTTP/2'),
      ),
  };

  #fail(error: unknown): void {
    this.#error ??= error;
    this.destroy();
  }

  #openWaiting(): void {
    for (const [stream, request] of this.#waiting) {
      if (this.#mayNotOpen) return;
      this.#waiting.delete(stream);
      this.#open(stream, request);
    }
  }

  #open(stream: Http2Stream, { head, body }: { head: Buffer; body: Buffer }): void {
    stream.send({ head, data: body, isLast: true });
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
    const all = [...this.#connection.streams.values(), ...this.#waiting.keys()];
    const passedOver = all.filter((one) => this.hasPassedOver(one));
    this.#waiting.clear();
    for (const stream of passedOver) this.#connection.end(stream, END_CODE.refusedStream);
    if (this.#calls === 0) this.destroy();
  }
}

/** A name that has several addresses fails for each. */
function reasonOf(error: unknown): unknown {
  return error instanceof AggregateError ? error.errors[0] : error;
}
