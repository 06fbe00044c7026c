import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { Socket } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import { CONNECTION_WINDOW_BYTES, PING_AFTER_MS, PING_TIMEOUT_MS, STREAM_WINDOW_BYTES } from '../limits.ts';
import { connectionError, lostConnection } from './connection-error.ts';
import type { HttpAnswer, HttpRequest } from './http-exchange.ts';

/** `afterMs`: a connection is pinged after this long without received data. `timeoutMs`: how long the server may take to answer. */
export type PingTimes = { afterMs: number; timeoutMs: number };

export type Http2Options = {
  origin: string;
  pings?: PingTimes;
  /** Called, possibly twice, when the connection no longer accepts calls. `wasAnswered`: whether any call received a response. */
  onClosed: (wasAnswered: boolean) => void;
  /** Called when the first response arrives. */
  onAnswer?: () => void;
  /** Called when the last in-flight call has ended. */
  onIdle: () => void;
};

/** A single HTTP/2 connection. It is pinged when silent, and closed if the server does not answer. */
export class Http2Connection {
  readonly #session: ClientHttp2Session;
  readonly #options: Http2Options;
  #streams = 0;
  #wasAnswered = false;

  private constructor(session: ClientHttp2Session, socket: Socket, options: Http2Options) {
    this.#session = session;
    this.#options = options;
    const timer = this.#watchForSilence(
      socket,
      options.pings ?? { afterMs: PING_AFTER_MS, timeoutMs: PING_TIMEOUT_MS },
    );
    const reportClosed = () => options.onClosed(this.#wasAnswered);
    session.once('close', () => {
      clearInterval(timer);
      reportClosed();
    });
    session.once('goaway', reportClosed);
  }

  /**
   * Opens an HTTP/2 connection over a socket that has negotiated it. Resolves once the server has sent its limit on concurrent streams.
   * Rejects with `unavailable` if the server closes the connection before or right after that.
   */
  static async over(socket: Socket, options: Http2Options, signal: AbortSignal): Promise<Http2Connection> {
    const session = connect(options.origin, {
      createConnection: () => socket,
      settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => session.destroy();
    signal.addEventListener('abort', stop, { once: true });
    session.once('remoteSettings', () => resolve());
    session.on('error', (error) => reject(connectionError(error, options.origin))); // the calls report later errors
    session.once('close', () => reject(signal.aborted ? signal.reason : lostConnection(options.origin)));
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', stop);
    }
    if (session.closed || session.destroyed) {
      session.destroy();
      throw lostConnection(options.origin);
    }
    if (session.remoteSettings.maxConcurrentStreams === 0) {
      session.destroy();
      throw new PodwrightError('unavailable', `${options.origin}: the server accepts no calls`);
    }
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    return new Http2Connection(session, socket, options);
  }

  /** Whether another call can be started now. */
  get hasRoom(): boolean {
    const { closed, destroyed, remoteSettings } = this.#session;
    return !closed && !destroyed && this.#streams < (remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Sends a request and returns the response. Rejects with `unavailable` or with the signal's abort reason. If the signal aborts later, the
   * response body is also aborted.
   */
  send({ method, path, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const { origin } = this.#options;
    const stream = this.#session.request(
      { ...headers, ':method': method, ':path': path },
      { endStream: body === undefined },
    );
    this.#streams++;
    const stop = () => stream.close(constants.NGHTTP2_CANCEL);
    signal.addEventListener('abort', stop, { once: true });
    stream.on('error', (error) => reject(signal.aborted ? signal.reason : connectionError(error, origin)));
    stream.once('response', (head) => {
      if (!this.#wasAnswered) this.#options.onAnswer?.();
      this.#wasAnswered = true;
      resolve(answerOf(head, stream));
    });
    stream.once('close', () => {
      signal.removeEventListener('abort', stop);
      reject(signal.aborted ? signal.reason : lostConnection(origin));
      if (--this.#streams === 0) this.#options.onIdle();
    });
    if (body !== undefined) stream.end(body);
    return promise;
  }

  /** Stops accepting calls and lets in-flight calls finish. */
  close(): void {
    this.#session.close();
  }

  /** Stops accepting calls and aborts in-flight calls. */
  destroy(): void {
    this.#session.destroy(lostConnection(this.#options.origin));
  }

  /** Pings the connection when it is silent. Any received bytes count as activity, regardless of the frames they belong to. */
  #watchForSilence(socket: Socket, { afterMs, timeoutMs }: PingTimes): NodeJS.Timeout {
    let receivedBytes = -1;
    let receivedAtMs = 0;
    let isPinging = false;
    const look = () => {
      const now = performance.now();
      if (socket.bytesRead !== receivedBytes) [receivedBytes, receivedAtMs] = [socket.bytesRead, now];
      if (isPinging || now - receivedAtMs < afterMs || this.#session.destroyed) return;
      isPinging = true;
      const timeout = setTimeout(() => this.destroy(), timeoutMs).unref();
      this.#session.ping(() => {
        clearTimeout(timeout);
        isPinging = false;
      });
    };
    return setInterval(look, afterMs / 2).unref();
  }
}

function answerOf(head: IncomingHttpHeaders & IncomingHttpStatusHeader, stream: ClientHttp2Stream): HttpAnswer {
  return {
    status: head[':status'] ?? 0,
    header: (name) => head[name]?.toString(),
    body: bodyOf(stream),
    isWhole: () => !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR,
  };
}

/**
 * Returns the body as a stream that can be read at any time. Node.js considers an HTTP/2 stream `closed` once both sides have ended, even
 * if its data is unread; iterating over it then fails with "Premature close".
 */
function bodyOf(stream: ClientHttp2Stream): Readable {
  const body = new PassThrough();
  stream.once('error', (error) => body.destroy(error));
  stream.once('close', () => {
    if (!stream.readableEnded) body.destroy(lostConnection('the response'));
  });
  body.once('close', () => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_CANCEL); // the caller reads no more of it
  });
  return stream.pipe(body);
}
