import type { Duplex } from 'node:stream';
import { errorMessage } from '@podwright/base';
import { broken, END_CODE, endCodeOf } from '../http2/end-codes.ts';
import { CLIENT_PREFACE, FIRST_WINDOW_BYTES, FRAME_TYPE, frame } from '../http2/frames.ts';
import type { Headers } from '../http2/header-blocks.ts';
import { Http2Connection } from '../http2/http2-connection.ts';
import type { Http2Stream } from '../http2/http2-stream.ts';
import { settingsFrame } from '../http2/peer-settings.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { MAX_CALLS, MAX_CONNECTION_IDLE_MS, PREFACE_TIMEOUT_MS } from '../limits.ts';
import type { CallStream } from './grpc-call.ts';
import { isRequest } from './request-fields.ts';
import { ResetBudget } from './reset-budget.ts';

/** Maximum size of a request header list. A gRPC call needs a few hundred bytes. */
export const HEADER_LIST_BYTES = 65_536;
const LIMITS = {
  streamWindowBytes: FIRST_WINDOW_BYTES,
  windowBytes: FIRST_WINDOW_BYTES,
  headerListBytes: HEADER_LIST_BYTES,
};
const SETTINGS = settingsFrame({ maxConcurrentStreams: MAX_CALLS, maxHeaderListSize: HEADER_LIST_BYTES });

export type SessionListener = {
  /** Called when a request starts. */
  onRequest: (stream: CallStream, fields: readonly HeaderField[]) => void;
  /** Called when the connection has ended; `error` is set if the client violated the protocol. */
  onClose: (error?: unknown) => void;
};

/** The HTTP/2 connection of one client (RFC 9113). A client that violates the protocol is disconnected; other clients are not affected. */
export class ServerSession {
  readonly #socket: Duplex;
  readonly #listener: SessionListener;
  readonly #connection: Http2Connection;
  readonly #resets = new ResetBudget();
  /** Number of bytes of the client's preface received so far. */
  #prefaceBytes = 0;
  #lastStreamId = 0;
  /** The last stream that this server will process, as reported in its GOAWAY. */
  #lastServedId = 0;
  #isRetired = false;
  #timer: NodeJS.Timeout;

  constructor(socket: Duplex, listener: SessionListener) {
    this.#socket = socket;
    this.#listener = listener;
    this.#connection = new Http2Connection(socket, this.#role, LIMITS);
    this.#timer = setTimeout(() => this.destroy(), PREFACE_TIMEOUT_MS);
    socket.on('error', () => this.destroy()); // a client that disconnects is not an error of the server
    for (const event of ['end', 'close']) socket.once(event, () => this.destroy()); // the client no longer waits for responses
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.write(SETTINGS);
  }

  /** Sends GOAWAY. The connection closes once its in-flight calls have finished. */
  retire(): void {
    if (this.#isRetired || this.#connection.isClosed) return;
    this.#isRetired = true;
    this.#connection.write(goAway(this.#lastServedId, END_CODE.noError));
    if (this.#connection.streams.size === 0) this.#socket.end();
  }

  /** Closes the connection and ends its calls immediately. */
  destroy(error?: unknown): void {
    if (this.#connection.isClosed) return;
    clearTimeout(this.#timer);
    this.#connection.close();
    this.#socket.destroy();
    this.#listener.onClose(error);
  }

  readonly #role = {
    isIdle: (streamId: number) => streamId > this.#lastStreamId || streamId % 2 === 0,
    onHeaders: (headers: Headers) => this.#receiveHeaders(headers),
    onSendEnd: (stream: Http2Stream) => {
      if (stream.hasEnded) this.#connection.end(stream, END_CODE.noError);
      else stream.cut(END_CODE.noError); // the rest of the request is not read
    },
    onReset: () => this.#resets.spend(),
    onClosed: () => {
      this.#timer.refresh();
      if (this.#isRetired && this.#connection.streams.size === 0) this.#socket.end();
    },
    onSettings: () => this.#waitIdle(),
    onBroken: (error: unknown) => this.#break(error),
  };

  #read(chunk: Buffer): void {
    if (this.#prefaceBytes === CLIENT_PREFACE.length) return this.#connection.push(chunk);
    const expected = CLIENT_PREFACE.subarray(this.#prefaceBytes, this.#prefaceBytes + chunk.length);
    if (!chunk.subarray(0, expected.length).equals(expected)) return this.destroy(broken('not a client of it'));
    this.#prefaceBytes += expected.length;
    if (chunk.length > expected.length) this.#connection.push(chunk.subarray(expected.length));
  }

  /**
   * Starts the idle timer. If the client has no calls when it expires, sends a GOAWAY and restarts the timer; if the client is still
   * connected when it expires again, closes the connection.
   */
  #waitIdle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#connection.streams.size > 0) return;
      if (this.#isRetired) return this.destroy();
      this.retire();
      this.#timer.refresh();
    }, MAX_CONNECTION_IDLE_MS).unref();
  }

  #receiveHeaders({ streamId, fields, endsStream }: Headers): void {
    const open = this.#connection.streams.get(streamId);
    if (open !== undefined) {
      if (open.hasEnded || !endsStream) throw broken('headers in the middle of a request');
      return this.#connection.endByPeer(open);
    }
    if (streamId % 2 === 0) throw broken(`stream ${streamId} of a client`);
    if (streamId <= this.#lastStreamId) return; // trailers of a request that has already been answered
    this.#lastStreamId = streamId;
    if (this.#isRetired) return; // the client knows from GOAWAY that it is not processed
    this.#lastServedId = streamId;
    if (this.#connection.streams.size >= MAX_CALLS) return this.#connection.refuse(streamId, END_CODE.refusedStream);
    if (!isRequest(fields)) return this.#connection.refuse(streamId, END_CODE.protocolError);
    const stream = this.#connection.stream();
    stream.hasEnded = endsStream;
    this.#connection.open(stream, streamId);
    this.#listener.onRequest(stream, fields);
    if (endsStream && stream.closeCode === undefined) this.#connection.endByPeer(stream);
  }

  /** Sends a GOAWAY that contains the reason, and closes the connection. */
  #break(error: unknown): void {
    this.#connection.write(goAway(this.#lastServedId, endCodeOf(error), errorMessage(error)));
    this.destroy(error);
  }
}

function goAway(lastStreamId: number, code: number, why = ''): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastStreamId, 0);
  payload.writeUInt32BE(code, 4);
  return frame({ type: FRAME_TYPE.goAway }, Buffer.concat([payload, Buffer.from(why)]));
}
