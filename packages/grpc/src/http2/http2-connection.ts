import type { Duplex } from 'node:stream';
import { broken, END_CODE } from './end-codes.ts';
import { FrameReader } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import {
  checkShape,
  endsStream,
  FIRST_WINDOW_BYTES,
  FLAG,
  FRAME_TYPE,
  type FrameHeader,
  frame,
  isAck,
  MOST_STREAM_ID,
  MOST_WINDOW_BYTES,
  numberFrame,
  unpadded,
} from './frames.ts';
import { HeaderBlocks, type Headers } from './header-blocks.ts';
import { Http2Stream, type StreamListener } from './http2-stream.ts';
import { PeerSettings } from './peer-settings.ts';
import { Sending } from './sending.ts';

/** What a client or server connection has to implement itself. */
export type ConnectionRole = {
  /** Whether the stream ID has never been used on this connection. */
  isIdle: (streamId: number) => boolean;
  /** Called when headers or trailers have been received on a stream. */
  onHeaders: (headers: Headers) => void;
  /** `onEnd` is called when the peer has ended its side of an open stream, `onSendEnd` when everything has been sent on this side. */
  onEnd?: (stream: Http2Stream) => void;
  onSendEnd?: (stream: Http2Stream) => void;
  /** Called when the peer has reset an open stream. */
  onReset?: () => void;
  /** Called when a stream has been closed, by either side. */
  onClosed: (stream: Http2Stream) => void;
  onSettings?: () => void;
  onGoAway?: (lastStreamId: number, code: number) => void;
  /** Called when the peer has violated the protocol. The owner must then close the connection. */
  onBroken: (error: unknown) => void;
};

/** Limits imposed on the peer: the receive windows of each stream and of the connection, and the maximum header list size. */
export type ConnectionLimits = { streamWindowBytes: number; windowBytes: number; headerListBytes: number };

/** The part of an HTTP/2 connection (RFC 9113) that is common to clients and servers: frames, flow control and acknowledgements. */
export class Http2Connection {
  /** Open streams, by ID. */
  readonly streams = new Map<number, Http2Stream>();
  readonly peer = new PeerSettings();
  readonly #role: ConnectionRole;
  readonly #limits: ConnectionLimits;
  readonly #reader = new FrameReader((header, payload) => this.#receive(header, payload));
  readonly #blocks: HeaderBlocks;
  readonly #writer: FrameWriter;
  readonly #sending: Sending;
  #receiveWindowBytes = FIRST_WINDOW_BYTES;
  #isGreeted = false;
  #isClosed = false;

  constructor(socket: Duplex, role: ConnectionRole, limits: ConnectionLimits) {
    this.#role = role;
    this.#limits = limits;
    this.#blocks = new HeaderBlocks(limits.headerListBytes);
    this.#writer = new FrameWriter(socket, { onDrain: () => this.#sending.flush(), onFlood: role.onBroken });
    this.#sending = new Sending(this.#writer, (stream) => role.onSendEnd?.(stream));
  }

  /** Whether the peer has sent its settings, which must be its first frame (RFC 9113, 3.4). */
  get isGreeted(): boolean {
    return this.#isGreeted;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Processes received bytes, which the caller may overwrite afterwards. */
  push(bytes: Buffer): void {
    if (this.#isClosed) return;
    try {
      this.#writer.together(() => this.#reader.push(bytes));
    } catch (error) {
      this.#role.onBroken(error);
    }
  }

  /** Writes frames other than acknowledgements, which are limited separately (see `FrameWriter.answer`). */
  write(frames: Buffer): void {
    if (!this.#isClosed) this.#writer.write(frames);
  }

  /** Creates the object for a stream, without opening the stream. */
  stream(listener?: StreamListener): Http2Stream {
    const stream = new Http2Stream(this.#host, this.#limits.streamWindowBytes);
    stream.listener = listener;
    return stream;
  }

  /** Opens a stream and sends its pending data. */
  open(stream: Http2Stream, id: number): void {
    stream.id = id;
    stream.sendWindowBytes = this.peer.windowBytes;
    this.streams.set(id, stream);
    if (stream.head !== undefined) this.#sending.send(stream);
  }

  /** Resets a stream that was never opened on this side. */
  refuse(streamId: number, code: number): void {
    this.#writer.answer(numberFrame({ type: FRAME_TYPE.resetStream, streamId }, code));
  }

  /** Closes a stream on this side without notifying the peer. */
  end(stream: Http2Stream, code: number): void {
    this.streams.delete(stream.id);
    this.#sending.forget(stream);
    stream.close(code);
    if (!this.#isClosed) this.#role.onClosed(stream);
  }

  /** Handles the peer ending its side of a stream. */
  endByPeer(stream: Http2Stream): void {
    stream.receiveEnd();
    this.#role.onEnd?.(stream);
  }

  /** Increases the connection's receive window to its full size, because HTTP/2's initial window is smaller. */
  widen(): void {
    const bytes = this.#limits.windowBytes - this.#receiveWindowBytes;
    if (bytes === 0 || this.#isClosed) return;
    this.#receiveWindowBytes += bytes;
    this.#grant(0, bytes);
  }

  /** Closes all streams. Nothing is read or sent after that. */
  close(): void {
    this.#isClosed = true;
    const open = [...this.streams.values()];
    this.streams.clear();
    for (const stream of open) stream.close(END_CODE.cancel);
  }

  readonly #host = {
    send: (stream: Http2Stream) => {
      if (stream.id !== 0 && !this.#isClosed) this.#sending.send(stream);
    },
    reset: (stream: Http2Stream, code: number) => {
      if (stream.id !== 0) this.write(numberFrame({ type: FRAME_TYPE.resetStream, streamId: stream.id }, code));
      this.end(stream, code);
    },
    grant: ({ id }: Http2Stream, bytes: number) => {
      if (!this.#isClosed) this.#grant(id, bytes);
    },
  };

  #grant(streamId: number, bytes: number): void {
    this.#writer.answer(numberFrame({ type: FRAME_TYPE.windowUpdate, streamId }, bytes));
  }

  #receive(header: FrameHeader, payload: Buffer): void {
    if (this.#isClosed) return;
    checkShape(header);
    if (!this.#isGreeted && header.type !== FRAME_TYPE.settings) throw broken('no settings');
    const headers = this.#blocks.take(header, payload);
    if (headers !== undefined) return this.#role.onHeaders(headers);
    switch (header.type) {
      case FRAME_TYPE.data:
        return this.#receiveData(header, payload);
      case FRAME_TYPE.resetStream:
        return this.#receiveReset(header.streamId, payload.readUInt32BE(0));
      case FRAME_TYPE.settings:
        return isAck(header) ? undefined : this.#receiveSettings(payload);
      case FRAME_TYPE.ping:
        return isAck(header) ? undefined : this.#acknowledge(FRAME_TYPE.ping, payload);
      case FRAME_TYPE.goAway:
        return this.#role.onGoAway?.(payload.readUInt32BE(0) & MOST_STREAM_ID, payload.readUInt32BE(4));
      case FRAME_TYPE.windowUpdate:
        return this.#receiveWindow(header.streamId, payload.readUInt32BE(0) & MOST_WINDOW_BYTES);
      case FRAME_TYPE.pushPromise:
        throw broken('a push, which was not allowed');
    }
  }

  #acknowledge(type: number, payload?: Buffer): void {
    this.#writer.answer(frame({ type, flags: FLAG.ack }, payload));
  }

  /** Returns the open stream with this ID, or `undefined` if it has been closed. Throws if it was never opened. */
  #known(streamId: number): Http2Stream | undefined {
    const stream = this.streams.get(streamId);
    if (stream === undefined && this.#role.isIdle(streamId)) throw broken(`nothing has begun stream ${streamId}`);
    return stream;
  }

  /** Handles received data. Data that arrives late for a closed stream also counts towards the connection's window. */
  #receiveData(header: FrameHeader, payload: Buffer): void {
    const data = unpadded(header, payload);
    if (data === undefined) throw broken('padding longer than its frame');
    this.#receiveWindowBytes -= payload.length;
    if (this.#receiveWindowBytes <= this.#limits.windowBytes / 2) this.widen();
    const stream = this.#known(header.streamId);
    if (stream === undefined) return;
    if (stream.hasEnded) throw broken('data after the end of a stream');
    if (!stream.receiveData(data, payload.length))
      throw broken('more than the window of a stream', END_CODE.flowControlError);
    if (endsStream(header) && stream.closeCode === undefined) this.endByPeer(stream);
  }

  #receiveReset(streamId: number, code: number): void {
    const stream = this.#known(streamId);
    if (stream === undefined) return;
    this.end(stream, code);
    this.#role.onReset?.();
  }

  #receiveSettings(payload: Buffer): void {
    const { windowBytes } = this.peer;
    this.peer.apply(payload);
    this.#acknowledge(FRAME_TYPE.settings);
    this.#isGreeted = true;
    const more = this.peer.windowBytes - windowBytes;
    if (more !== 0) for (const stream of this.streams.values()) this.#sending.widenStream(stream, more);
    this.#role.onSettings?.();
  }

  #receiveWindow(streamId: number, bytes: number): void {
    if (bytes === 0) throw broken('a window that grows by nothing');
    if (streamId === 0) return this.#sending.widen(bytes);
    const stream = this.#known(streamId);
    if (stream !== undefined) this.#sending.widenStream(stream, bytes);
  }
}
