import type { ServerHttp2Session, ServerHttp2Stream, ServerOptions } from 'node:http2';
import { END_CODE } from '../http2/end-codes.ts';
import type { HeaderField } from '../http2/static-table.ts';
import {
  MAX_CALLS,
  MAX_CONNECTION_IDLE_MS,
  MAX_MESSAGE_BYTES,
  MAX_RESETS,
  PREFACE_TIMEOUT_MS,
  RESETS_PER_SECOND,
} from '../limits.ts';
import { NodeStream } from './node-stream.ts';
import { HEADER_LIST_BYTES, type SessionListener } from './session.ts';

/**
 * Limits for connections served by node:http2, the same as those of `ServerSession`. `maxSessionMemory` also counts unsent responses; with
 * its default of 10 MB, a session would refuse calls while sending one large response.
 */
export const NODE_SESSION_BOUNDS: ServerOptions = {
  settings: { maxConcurrentStreams: MAX_CALLS, maxHeaderListSize: HEADER_LIST_BYTES },
  streamResetBurst: MAX_RESETS,
  streamResetRate: RESETS_PER_SECOND,
  maxSessionMemory: (MAX_CALLS * MAX_MESSAGE_BYTES) / 1e6,
};

type StreamEvent = [stream: ServerHttp2Stream, headers: unknown, flags: number, rawHeaders: string[]];

/** The HTTP/2 connection of one TCP client, served by node:http2. It behaves like `ServerSession`. */
export class NodeSession {
  readonly #session: ServerHttp2Session;
  #calls = 0;
  #timer: NodeJS.Timeout;

  constructor(session: ServerHttp2Session, listener: SessionListener) {
    this.#session = session;
    this.#timer = setTimeout(() => session.destroy(), PREFACE_TIMEOUT_MS);
    let failure: Error | undefined;
    session.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith('ERR_HTTP2_')) failure = error; // others are errors of the socket: the client has disconnected
    });
    session.once('remoteSettings', () => this.#waitIdle());
    session.on('stream', (...[stream, , , rawHeaders]: StreamEvent) => {
      this.#calls++;
      stream.once('close', () => {
        this.#calls--;
        this.#timer.refresh();
      });
      const fields = fieldsOf(rawHeaders);
      if (sizeOf(fields) <= HEADER_LIST_BYTES) return listener.onRequest(new NodeStream(stream), fields);
      stream.on('error', () => undefined).close(END_CODE.enhanceYourCalm);
    });
    session.once('close', () => {
      clearTimeout(this.#timer);
      listener.onClose(failure);
    });
  }

  /** Sends GOAWAY. The connection closes once its in-flight calls have finished. */
  retire(): void {
    if (!this.#session.closed) this.#session.close();
  }

  /** Starts the idle timer. When it expires and the client has no calls, sends a GOAWAY and closes the connection. */
  #waitIdle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#calls === 0) this.retire();
    }, MAX_CONNECTION_IDLE_MS).unref();
  }
}

/**
 * Returns the size of a header list as counted by RFC 7541 (4.1), for a limit that also applies to clients that have not acknowledged the
 * server's settings; node:http2 applies its own limit only to clients that have.
 */
function sizeOf(fields: readonly HeaderField[]): number {
  return fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
}

/** Groups a flat list of alternating names and values into header fields. */
function fieldsOf(rawHeaders: readonly string[]): HeaderField[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index]!,
    rawHeaders[2 * index + 1]!,
  ]);
}
