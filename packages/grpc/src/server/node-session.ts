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
 * Bounds of connections that node:http2 serves, the same as those of `ServerSession`. The memory of a session includes unsent responses;
 * its default, 10 MB, would refuse calls while one large response is being sent.
 */
export const NODE_SESSION_BOUNDS: ServerOptions = {
  settings: { maxConcurrentStreams: MAX_CALLS, maxHeaderListSize: HEADER_LIST_BYTES },
  streamResetBurst: MAX_RESETS,
  streamResetRate: RESETS_PER_SECOND,
  maxSessionMemory: (MAX_CALLS * MAX_MESSAGE_BYTES) / 1e6,
};

type StreamEvent = [stream: ServerHttp2Stream, headers: unknown, flags: number, rawHeaders: string[]];

/** The HTTP/2 connection of one client, served by node:http2: the same as `ServerSession`, for TCP. */
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

  /** Sends GOAWAY; the connection closes after its last call. */
  retire(): void {
    if (!this.#session.closed) this.#session.close();
  }

  /** From now on an idle client receives GOAWAY after a time, and its connection is closed. */
  #waitIdle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#calls === 0) this.retire();
    }, MAX_CONNECTION_IDLE_MS).unref();
  }
}

/** node:http2 has the bound only for clients that acknowledge its settings; sizes are those of RFC 7541 (4.1). */
function sizeOf(fields: readonly HeaderField[]): number {
  return fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
}

/** The names and values of a list in which they alternate. */
function fieldsOf(rawHeaders: readonly string[]): HeaderField[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index]!,
    rawHeaders[2 * index + 1]!,
  ]);
}
