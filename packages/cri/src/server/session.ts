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
import { isRequest } from './request-fields.ts';
import { ResetBudget } from './reset-budget.ts';

/** A list of headers of the CRI has some hundred bytes. */
const HEADER_LIST_BYTES = 65_536;
const LIMITS = {
  streamWindowBytes: FIRST_WINDOW_BYTES,
  windowBytes: FIRST_WINDOW_BYTES,
  headerListBytes: HEADER_LIST_BYTES,
};
const SETTINGS = settingsFrame({ maxConcurrentStreams: MAX_CALLS, maxHeaderListSize: HEADER_LIST_BYTES });

export type SessionListener = {
  /** A request has begun. */
  onRequest: (stream: Http2Stream, fields: readonly HeaderField[]) => void;
  /** The connection has ended: because of an error, if the client has broken the protocol. */
  onClose: (error?: unknown) => void;
};

/** The connection of one client, in HTTP/2 (RFC 9113). A client that breaks the protocol loses it, and nothing else happens. */
export class ServerSession {
  readonly #socket: Duplex;
  readonly #listener: SessionListener;
  readonly #connection: Http2Connection;
  readonly #resets = new ResetBudget();
  /** How much of the client's preface has come. */
  #prefaceBytes = 0;
  #lastStreamId = 0;
  /** The last stream that we look at. */
  #lastServedId = 0;
  #isRetired = false;
  #timer: NodeJS.Timeout;

  constructor(socket: Duplex, listener: SessionListener) {
    this.#socket = socket;
    this.#listener = listener;
    this.#connection = new Http2Connection(socket, this.#role, LIMITS);
    this.#timer = setTimeout(() => this.destroy(), PREFACE_TIMEOUT_MS);
    socket.on('error', () => this.destroy()); // a client that vanishes is no error of ours
    for (const event of ['end', 'close']) socket.once(event, () => this.destroy()); // nobody waits for answers any more
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.write(SETTINGS);
  }

  /** Tells the client to make no new calls; the connection ends with its last one. */
  retire(): void {
    if (this.#isRetired || this.#connection.isClosed) return;
    this.#isRetired = true;
    this.#connection.write(goAway(this.#lastServedId, END_CODE.noError));
    if (this.#connection.streams.size === 0) this.#socket.end();
  }

  /** Ends it and its calls, now. */
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
    onSaid: (stream: Http2Stream) => {
      if (stream.hasEnded) this.#connection.end(stream, END_CODE.noError);
      else stream.cut(END_CODE.noError); // what the client still sends is for nobody
    },
    onReset: () => this.#resets.spend(),
    onGone: () => {
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

  /** From now on a client that has made no call for long is told to leave; if it does not, the connection ends after the same time. */
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
    if (streamId <= this.#lastStreamId) return; // trailers that have crossed our answer
    this.#lastStreamId = streamId;
    if (this.#isRetired) return; // the client was told that nobody looks at it
    this.#lastServedId = streamId;
    if (this.#connection.streams.size >= MAX_CALLS) return this.#connection.refuse(streamId, END_CODE.refusedStream);
    if (!isRequest(fields)) return this.#connection.refuse(streamId, END_CODE.protocolError);
    const stream = this.#connection.stream();
    stream.hasEnded = endsStream;
    this.#connection.open(stream, streamId);
    this.#listener.onRequest(stream, fields);
    if (endsStream && stream.closeCode === undefined) this.#connection.endByPeer(stream);
  }

  /** Tells the client why, if it reads it, and leaves. */
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
