import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { PodwrightError, wrapError } from '@podwright/base';
import { HTTP2_CONNECT_TIMEOUT_MS } from '../limits.ts';

/** Where a session leads: `name` is for messages, `authority` for requests. */
export type SessionTarget = { name: string; url: string; authority: string; dial: () => Socket };

/** How much of an answer may come at once: lists of hundreds of containers come without waiting for us in between. */
const WINDOW_BYTES = 1 << 20;

/** One HTTP/2 connection. It keeps a process alive while it is being made, and while a call is under way on it. */
export class Session {
  readonly #target: SessionTarget;
  readonly #http: ClientHttp2Session;
  #calls = 0;
  /** Why it has broken. */
  #error: unknown;
  /** The last stream that the other side has looked at, or will, once it says that it takes no more. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  readonly #onClose: () => void;

  /** `onClose` is called when it has ended. */
  constructor(target: SessionTarget, onClose: () => void) {
    this.#target = target;
    this.#onClose = onClose;
    this.#http = connect(target.url, {
      createConnection: target.dial,
      settings: { initialWindowSize: WINDOW_BYTES, enablePush: false },
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    this.#http.on('error', (error) => {
      this.#error ??= error;
    });
    this.#http.on('goaway', (_code, lastStreamId) => {
      this.#lastStreamId = lastStreamId;
    });
    this.#http.once('close', () => this.#onClose());
  }

  /** Whether calls may begin on it. */
  get isUsable(): boolean {
    return !this.#http.closed && !this.#http.destroyed;
  }

  get isDestroyed(): boolean {
    return this.#http.destroyed;
  }

  /**
   * Resolves when the other side has said that it speaks HTTP/2, with the settings that it sends first of all (RFC 9113, 3.4). Rejects
   * with `unavailable` where nobody listens, and where this takes too long.
   */
  async connected(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#http.once('remoteSettings', () => resolve());
    this.#http.once('close', () =>
      reject(
        this.#error === undefined
          ? this.failure()
          : wrapError(`connect to ${this.#target.name}`, reasonOf(this.#error), 'unavailable'),
      ),
    );
    const late = setTimeout(() => {
      this.#error ??= new PodwrightError('unavailable', `no answer for ${HTTP2_CONNECT_TIMEOUT_MS / 1000} s`);
      this.#http.destroy();
    }, HTTP2_CONNECT_TIMEOUT_MS);
    late.unref();
    try {
      await promise;
    } finally {
      clearTimeout(late);
    }
    this.#http.setLocalWindowSize(WINDOW_BYTES);
    this.#http.unref();
  }

  /** Begins a call. Throws `unavailable` if the connection has been lost meanwhile. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    if (!this.isUsable) throw this.failure();
    const stream = this.#http.request({ ':authority': this.#target.authority, ...headers });
    if (this.#calls++ === 0) this.#http.ref();
    // what breaks the connection comes to its streams first
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (this.isDestroyed && error.code !== 'ERR_HTTP2_STREAM_ERROR') this.#error ??= error;
    });
    stream.once('close', () => {
      if (--this.#calls === 0) this.#http.unref();
    });
    return stream;
  }

  /** Whether the other side has said that it does not look at this stream, which has been cut. */
  hasPassedOver({ id }: ClientHttp2Stream): boolean {
    return this.#lastStreamId < (id ?? Number.POSITIVE_INFINITY);
  }

  /** Why a call has failed whose stream was cut, rather than ended by the other side. */
  failure(): PodwrightError {
    const what = `the connection to ${this.#target.name} was lost`;
    if (this.#error === undefined) return new PodwrightError('unavailable', what);
    return wrapError(what, reasonOf(this.#error), 'unavailable');
  }

  /** Ends it and its calls, now. */
  destroy(): void {
    this.#http.destroy();
  }
}

/** A name that has several addresses fails for each. */
function reasonOf(error: unknown): unknown {
  return error instanceof AggregateError ? error.errors[0] : error;
}
