import type { OnReadOpts, Socket } from 'node:net';
import { PodwrightError, wrapError } from '@podwright/base';
import { FrameReader } from '../http2/frame-reader.ts';
import {
  broken,
  CLIENT_PREFACE,
  END_CODE,
  endsStream,
  FIRST_WINDOW_BYTES,
  FLAG,
  FRAME_TYPE,
  type FrameHeader,
  frame,
  headersFrames,
  isAck,
  MAX_FRAME_BYTES,
  MOST_WINDOW_BYTES,
  numberFrame,
  unpadded,
} from '../http2/frames.ts';
import { HeaderBlocks, type Headers } from '../http2/header-blocks.ts';
import { HTTP2_CONNECT_TIMEOUT_MS, MAX_UNREAD_ANSWERS } from '../limits.ts';
import { CallStream, type StreamListener, WINDOW_BYTES } from './call-stream.ts';
import { PeerSettings } from './peer-settings.ts';

/** Where a session leads: `name` is for messages. The socket is read as `onread` says. */
export type SessionTarget = { name: string; dial: (onread: OnReadOpts) => Socket };

const READ_BYTES = 65_536;
const MOST_STREAM_ID = 2 ** 31 - 1;
/** Before the first header block: we use no dynamic table, whatever size the other side allows (RFC 7541, 6.3). */
const NO_DYNAMIC_TABLE = Buffer.of(0x20);

/**
 * One HTTP/2 connection. It keeps a process alive while it is being made, and while a call is under way on it.
 *
 * It speaks HTTP/2 itself: what gRPC needs of it is little, and node:http2 takes nearly twice the processor time for a call.
 */
export class Session {
  readonly #target: SessionTarget;
  readonly #socket: Socket;
  readonly #onClose: () => void;
  readonly #reader = new FrameReader((header, payload) => this.#receive(header, payload));
  readonly #blocks = new HeaderBlocks();
  readonly #peer = new PeerSettings();
  readonly #connected = Promise.withResolvers<void>();
  #isConnected = false;
  readonly #streams = new Map<number, CallStream>();
  /** Those that the other side does not take yet, with their headers. */
  readonly #waiting = new Map<CallStream, Buffer>();
  #nextStreamId = 1;
  #sendWindowBytes = FIRST_WINDOW_BYTES;
  #receivedBytes = 0;
  /** Acknowledgements that the other side does not read. */
  #unreadAnswers = 0;
  /** The last stream that the other side has looked at, or will, once it says that it takes no more. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #isDestroyed = false;
  /** Why it has broken. */
  #error: unknown;

  /** `onClose` is called when it has ended. */
  constructor(target: SessionTarget, onClose: () => void) {
    this.#target = target;
    this.#onClose = onClose;
    const callback = (size: number, buffer: Uint8Array) => this.#read(buffer as Buffer, size);
    this.#socket = target.dial({ buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback });
    this.#socket.on('error', (error) => this.#fail(error));
    for (const event of ['end', 'close']) this.#socket.once(event, () => this.destroy()); // no answer comes after the end
    this.#socket.write(Buffer.concat([CLIENT_PREFACE, PeerSettings.ours(WINDOW_BYTES)]));
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
    this.#grant(0, WINDOW_BYTES - FIRST_WINDOW_BYTES);
    if (this.#streams.size === 0) this.#socket.unref();
  }

  /** Begins a call, with its header block and its whole body. Throws `unavailable` if the connection has been lost meanwhile. */
  begin({ head, body }: { head: Buffer; body: Buffer }, listener: StreamListener): CallStream {
    if (!this.isUsable) throw this.failure();
    if (this.#calls === 0) this.#socket.ref();
    const stream = new CallStream(body, this.#host, listener);
    if (this.#waiting.size > 0 || this.#streams.size >= this.#peer.maxStreams) this.#waiting.set(stream, head);
    else this.#open(stream, head);
    return stream;
  }

  /** Whether the other side has said that it does not look at this stream, which has been cut. */
  hasPassedOver({ id }: CallStream): boolean {
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
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#socket.destroy();
    const why = this.#error && wrapError(`connect to ${this.#target.name}`, reasonOf(this.#error), 'unavailable');
    this.#connected.reject(why ?? this.failure());
    const open = [...this.#streams.values(), ...this.#waiting.keys()];
    this.#streams.clear();
    this.#waiting.clear();
    for (const stream of open) stream.close(END_CODE.cancel);
    this.#onClose();
  }

  get #calls(): number {
    return this.#streams.size + this.#waiting.size;
  }

  readonly #host = {
    reset: (stream: CallStream, code: number) => {
      this.#waiting.delete(stream);
      if (stream.id !== undefined)
        this.#write(numberFrame({ type: FRAME_TYPE.resetStream, streamId: stream.id }, code));
      this.#forget(stream);
    },
    grant: ({ id }: CallStream, bytes: number) => this.#grant(id!, bytes),
  };

  #fail(error: unknown): void {
    this.#error ??= error;
    this.destroy();
  }

  #write(...frames: Buffer[]): void {
    if (frames.length > 0 && !this.#isDestroyed)
      this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }

  #grant(streamId: number, bytes: number): void {
    this.#write(numberFrame({ type: FRAME_TYPE.windowUpdate, streamId }, bytes));
  }

  /** Sends what is due to an other side that should read it: one that does not may make us keep only so many. */
  #acknowledge(type: number, payload?: Buffer): void {
    this.#unreadAnswers = this.#socket.writableLength === 0 ? 0 : this.#unreadAnswers + 1;
    if (this.#unreadAnswers > MAX_UNREAD_ANSWERS) throw new PodwrightError('resource_exhausted', 'HTTP/2: a flood');
    this.#write(frame({ type, flags: FLAG.ack }, payload));
  }

  #openWaiting(): void {
    for (const [stream, head] of this.#waiting) {
      if (this.#streams.size >= this.#peer.maxStreams) return;
      this.#waiting.delete(stream);
      this.#open(stream, head);
    }
  }

  #open(stream: CallStream, head: Buffer): void {
    stream.id = this.#nextStreamId;
    this.#nextStreamId += 2;
    stream.sendWindowBytes = this.#peer.windowBytes;
    this.#streams.set(stream.id, stream);
    const block = stream.id === 1 ? Buffer.concat([NO_DYNAMIC_TABLE, head]) : head;
    this.#write(headersFrames(block, { streamId: stream.id, endStream: false }), ...this.#dataOf(stream));
  }

  /** As much of a request as the windows let through. */
  #dataOf(stream: CallStream): Buffer[] {
    const frames: Buffer[] = [];
    for (;;) {
      const { unsent, sendWindowBytes, id } = stream;
      const size = Math.min(unsent.length, MAX_FRAME_BYTES, this.#sendWindowBytes, sendWindowBytes);
      if (size <= 0) return frames;
      stream.unsent = unsent.subarray(size);
      stream.sendWindowBytes -= size;
      this.#sendWindowBytes -= size;
      const flags = size === unsent.length ? FLAG.endStream : 0;
      frames.push(frame({ type: FRAME_TYPE.data, flags, streamId: id }, unsent.subarray(0, size)));
    }
  }

  /** No more is heard of it. */
  #forget({ id }: CallStream): void {
    this.#streams.delete(id ?? 0);
    if (this.#isDestroyed) return;
    if (!this.isUsable) {
      if (this.#calls === 0) this.destroy();
      return;
    }
    if (this.#waiting.size > 0) this.#openWaiting();
    if (this.#calls === 0) this.#socket.unref();
  }

  #end(stream: CallStream, code: number): void {
    stream.close(code);
    this.#forget(stream);
  }

  #read(buffer: Buffer, size: number): boolean {
    try {
      this.#reader.push(buffer.subarray(0, size));
    } catch (error) {
      this.#fail(this.#isConnected ? error : new PodwrightError('unavailable', 'what answers speaks no HTTP/2'));
    }
    return true;
  }

  #receive(header: FrameHeader, payload: Buffer): void {
    if (this.#isDestroyed) return;
    if (!this.#isConnected && header.type !== FRAME_TYPE.settings) throw broken('no settings');
    const headers = this.#blocks.take(header, payload);
    if (headers !== undefined) return this.#receiveHeaders(headers);
    const stream = this.#streams.get(header.streamId);
    switch (header.type) {
      case FRAME_TYPE.data:
        return this.#receiveData(header, payload, stream);
      case FRAME_TYPE.resetStream:
        return stream && this.#end(stream, payload.readUInt32BE(0));
      case FRAME_TYPE.settings:
        return isAck(header) ? undefined : this.#receiveSettings(payload);
      case FRAME_TYPE.ping:
        return isAck(header) ? undefined : this.#acknowledge(FRAME_TYPE.ping, payload.subarray(0, 8));
      case FRAME_TYPE.goAway:
        return this.#receiveGoAway(payload.readUInt32BE(0) & MOST_STREAM_ID, payload.readUInt32BE(4));
      case FRAME_TYPE.windowUpdate:
        return this.#widen(header.streamId, payload.readUInt32BE(0) & MOST_WINDOW_BYTES);
      case FRAME_TYPE.pushPromise:
        throw broken('a push, which was not allowed');
    }
  }

  #receiveHeaders({ streamId, fields, endsStream }: Headers): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    stream.headers(new Map(fields), endsStream);
    if (endsStream) this.#endByPeer(stream);
  }

  #receiveData(header: FrameHeader, payload: Buffer, stream: CallStream | undefined): void {
    const data = unpadded(header, payload);
    if (data === undefined) throw broken('padding longer than its frame');
    this.#receivedBytes += payload.length;
    if (this.#receivedBytes >= WINDOW_BYTES / 2) {
      this.#grant(0, this.#receivedBytes);
      this.#receivedBytes = 0;
    }
    if (stream === undefined) return;
    if (!stream.data(data, payload.length)) throw broken('more than the window of a stream');
    if (endsStream(header)) this.#endByPeer(stream);
  }

  /** The other side has said all, also if it has not heard all. */
  #endByPeer(stream: CallStream): void {
    if (stream.closeCode !== undefined) return;
    if (stream.unsent.length > 0)
      this.#write(numberFrame({ type: FRAME_TYPE.resetStream, streamId: stream.id }, END_CODE.noError));
    this.#end(stream, END_CODE.noError);
  }

  #receiveSettings(payload: Buffer): void {
    const { windowBytes } = this.#peer;
    this.#peer.apply(payload);
    for (const stream of this.#streams.values()) stream.sendWindowBytes += this.#peer.windowBytes - windowBytes;
    this.#acknowledge(FRAME_TYPE.settings);
    this.#isConnected = true;
    this.#connected.resolve();
    this.#openWaiting();
    for (const stream of this.#streams.values()) this.#write(...this.#dataOf(stream));
  }

  #receiveGoAway(lastStreamId: number, code: number): void {
    this.#lastStreamId = Math.min(lastStreamId, MOST_STREAM_ID);
    if (code !== END_CODE.noError) throw new Error(`Session closed with error code ${code}`);
    const passedOver = [...this.#streams.values(), ...this.#waiting.keys()].filter((one) => this.hasPassedOver(one));
    this.#waiting.clear();
    for (const stream of passedOver) this.#end(stream, END_CODE.refusedStream);
    if (this.#calls === 0) this.destroy();
  }

  #widen(streamId: number, bytes: number): void {
    const stream = this.#streams.get(streamId);
    if (streamId === 0) this.#sendWindowBytes += bytes;
    else if (stream !== undefined) stream.sendWindowBytes += bytes;
    if (Math.max(this.#sendWindowBytes, stream?.sendWindowBytes ?? 0) > MOST_WINDOW_BYTES)
      throw broken('a window that is too large');
    for (const one of streamId === 0 ? this.#streams.values() : stream ? [stream] : [])
      this.#write(...this.#dataOf(one));
  }
}

/** A name that has several addresses fails for each. */
function reasonOf(error: unknown): unknown {
  return error instanceof AggregateError ? error.errors[0] : error;
}
