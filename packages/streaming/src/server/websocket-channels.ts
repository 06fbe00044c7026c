import { PassThrough, type Readable, Writable } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import type { RawData, WebSocket } from 'ws';
import { PAUSED_PING_MS } from '../limits.ts';
import { type CountBuffer, ignoreBuffer } from '../read-buffers.ts';
import { hasHalfClose, isBase64 } from './protocols.ts';
import { Channel, decodeMessage, encodeMessage } from './websocket-messages.ts';

/** Number of buffered bytes above which a channel's writer blocks. */
const HIGH_WATER_BYTES = 256 << 10;
/** Maximum number of bytes of pongs that a client may leave unread. Beyond that, pings are not answered. */
const MAX_UNSENT_PONG_BYTES = 1 << 20;
const NORMAL_CLOSURE = 1000;

/**
 * A WebSocket whose messages belong to numbered channels. Messages for a channel without a reader are discarded. There is no per-channel
 * flow control: a slow reader blocks all channels.
 */
export class WebSocketChannels {
  /** A signal that aborts when the socket is closed, before the channels end. */
  readonly gone: AbortSignal;
  readonly #gone = new AbortController();
  readonly #socket: WebSocket;
  readonly #base64: boolean;
  readonly #halfClose: boolean;
  readonly #readers = new Map<number, PassThrough>();
  readonly #countBuffer: CountBuffer;

  /** `socket` must have been created with `autoPong: false`, because `WebSocketChannels` answers pings itself. */
  constructor(socket: WebSocket, protocol: string, countBuffer = ignoreBuffer) {
    this.#socket = socket;
    this.#countBuffer = countBuffer;
    this.#base64 = isBase64(protocol);
    this.#halfClose = hasHalfClose(protocol);
    this.gone = this.#gone.signal;
    const pinging = setInterval(() => {
      if (socket.isPaused && socket.bufferedAmount === 0) socket.ping();
    }, PAUSED_PING_MS).unref();
    socket.on('message', (data) => this.#receive(toBuffer(data)));
    answerPings(socket);
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(pinging);
      this.#gone.abort(new PodwrightError('unavailable', 'the WebSocket was closed'));
      for (const reader of this.#readers.values()) reader.end();
    });
  }

  /** Returns a stream of the bytes that the client writes to a channel. */
  reader(channel: number): Readable {
    const reader = new PassThrough();
    const resume = () => this.#socket.resume();
    reader.on('drain', resume).on('close', resume);
    reader.on('error', () => undefined);
    this.#readers.set(channel, reader);
    return reader;
  }

  /**
   * Returns a stream that writes to one of the client's channels. Writes fail once the socket is closed. An 'error' event without a
   * listener is not thrown.
   */
  writer(channel: number): Writable {
    const write = (chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void) =>
      this.send(channel, chunk, done);
    const writer = new Writable({ highWaterMark: HIGH_WATER_BYTES, write });
    return writer.on('error', () => undefined);
  }

  /** Sends one message. An empty message only announces the channel. */
  send(channel: number, payload: Buffer, done: (error?: Error | null) => void = () => undefined): void {
    this.#countBuffer(payload.length);
    this.#socket.send(encodeMessage(channel, payload, this.#base64), { binary: !this.#base64 }, done);
  }

  /** Closes the connection after sending pending messages. Data that the client still sends is discarded. */
  close(): void {
    for (const reader of this.#readers.values()) reader.destroy();
    this.#socket.resume();
    this.#socket.close(NORMAL_CLOSURE);
  }

  #receive(message: Buffer): void {
    this.#countBuffer(message.length);
    const decoded = decodeMessage(message, this.#base64);
    if (decoded === undefined) return;
    const { channel, payload } = decoded;
    if (channel === Channel.close && this.#halfClose) {
      const closed = payload[0];
      if (closed !== undefined) this.#readers.get(closed)?.end();
      return;
    }
    this.#deliver(this.#readers.get(channel), payload);
  }

  #deliver(reader: PassThrough | undefined, payload: Buffer): void {
    if (reader === undefined || !reader.writable || payload.length === 0) return;
    if (!reader.write(payload)) this.#socket.pause();
  }
}

/** Answers pings as long as the client keeps reading the pongs. */
export function answerPings(socket: WebSocket): void {
  socket.on('ping', (data) => {
    if (socket.bufferedAmount < MAX_UNSENT_PONG_BYTES) socket.pong(data);
  });
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
