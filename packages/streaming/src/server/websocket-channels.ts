import { PassThrough, type Readable, Writable } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import type { RawData, WebSocket } from 'ws';
import { HELD_BACK_PING_MS } from '../limits.ts';
import { countBuffer } from '../read-buffers.ts';
import { hasHalfClose, isBase64 } from './protocols.ts';
import { Channel, decodeMessage, encodeMessage } from './websocket-messages.ts';

/** A writer waits when so much of its channel waits in our memory. */
const HIGH_WATER_BYTES = 256 << 10;
/** Pongs that a client may leave unread; beyond that its pings are not answered. */
const MAX_UNSENT_PONG_BYTES = 1 << 20;
const NORMAL_CLOSURE = 1000;

/**
 * A WebSocket whose messages belong to numbered channels. Channels without a reader are drained. There is no
 * flow control for a single channel: one whose reader falls behind holds all of them back.
 */
export class WebSocketChannels {
  /** Aborts when the socket is closed, before the channels end. */
  readonly gone: AbortSignal;
  readonly #gone = new AbortController();
  readonly #socket: WebSocket;
  readonly #base64: boolean;
  readonly #halfClose: boolean;
  readonly #readers = new Map<number, PassThrough>();

  /** `socket` must have been made with `autoPong: false`. */
  constructor(socket: WebSocket, protocol: string) {
    this.#socket = socket;
    this.#base64 = isBase64(protocol);
    this.#halfClose = hasHalfClose(protocol);
    this.gone = this.#gone.signal;
    const pinging = setInterval(() => {
      if (socket.isPaused && socket.bufferedAmount === 0) socket.ping();
    }, HELD_BACK_PING_MS).unref();
    socket.on('message', (data) => this.#receive(toBuffer(data)));
    answerPings(socket);
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(pinging);
      this.#gone.abort(new PodwrightError('unavailable', 'the WebSocket was closed'));
      for (const reader of this.#readers.values()) reader.end();
    });
  }

  /** The bytes of a channel that the client writes. */
  reader(channel: number): Readable {
    const reader = new PassThrough();
    const resume = () => this.#socket.resume();
    reader.on('drain', resume).on('close', resume);
    reader.on('error', () => undefined);
    this.#readers.set(channel, reader);
    return reader;
  }

  /** A channel that the client reads; fails when the socket is closed. An 'error' without a listener is not thrown. */
  writer(channel: number): Writable {
    const write = (chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void) =>
      this.send(channel, chunk, done);
    const writer = new Writable({ highWaterMark: HIGH_WATER_BYTES, write });
    return writer.on('error', () => undefined);
  }

  /** Sends one message; an empty one only shows that the channel is there. */
  send(channel: number, payload: Buffer, done: (error?: Error | null) => void = () => undefined): void {
    countBuffer(payload.length);
    this.#socket.send(encodeMessage(channel, payload, this.#base64), { binary: !this.#base64 }, done);
  }

  /** Ends the connection after what was sent; what the client still sends is read away. */
  close(): void {
    for (const reader of this.#readers.values()) reader.destroy();
    this.#socket.resume();
    this.#socket.close(NORMAL_CLOSURE);
  }

  #receive(message: Buffer): void {
    countBuffer(message.length);
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

/** Answers pings as long as the client reads the answers. */
export function answerPings(socket: WebSocket): void {
  socket.on('ping', (data) => {
    if (socket.bufferedAmount < MAX_UNSENT_PONG_BYTES) socket.pong(data);
  });
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
