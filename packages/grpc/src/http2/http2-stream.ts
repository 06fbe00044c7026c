import { END_CODE } from './end-codes.ts';
import type { HeaderField } from './static-table.ts';

/** Callbacks of a stream. */
export type StreamListener = {
  /** Headers have been received; with `isLast` the peer has ended its side with them. */
  onHeaders?: (fields: readonly HeaderField[], isLast: boolean) => void;
  /** Bytes have been received. They are valid until this returns; the owner calls `take` when it has consumed them. */
  onData: (bytes: Buffer) => void;
  /** The peer has ended its side. */
  onEnd?: () => void;
  /** All pending data has been sent, and there is room for more. */
  onSent?: () => void;
  /** The last callback: both sides have ended, or the stream was reset. */
  onClose: () => void;
};

/** The operations of a connection that its streams use. */
export type StreamHost = {
  /** The stream has new data to send. */
  send: (stream: Http2Stream) => void;
  /** Sends the peer a reset of the stream. */
  reset: (stream: Http2Stream, code: number) => void;
  /** Widens the receive window by so many bytes. */
  grant: (stream: Http2Stream, bytes: number) => void;
};

/** Data to send on a stream, in this order. */
export type Outgoing = {
  /** A header block. */
  head?: Buffer;
  data?: Buffer;
  /** A header block, which ends this side of the stream. */
  trailers?: Buffer;
  /** Whether this side of the stream ends with it. */
  isLast?: boolean;
};

const NOTHING = Buffer.alloc(0);

/** A stream of HTTP/2 (RFC 9113, 5), of a client or a server. */
export class Http2Stream {
  readonly #host: StreamHost;
  readonly #windowBytes: number;
  listener: StreamListener | undefined;
  /** 0 until it is opened. */
  id = 0;
  /** Pending data to send. Flow control applies to `unsent` only. */
  head: Buffer | undefined;
  unsent: Buffer = NOTHING;
  trailers: Buffer | undefined;
  isLast = false;
  /** Remaining send window of the stream. */
  sendWindowBytes = 0;
  /** Whether the peer has ended its side. */
  hasEnded = false;
  #receiveWindowBytes: number;
  #takenBytes = 0;
  #closeCode: number | undefined;

  /** `windowBytes` is the receive window. */
  constructor(host: StreamHost, windowBytes: number) {
    this.#host = host;
    this.#windowBytes = windowBytes;
    this.#receiveWindowBytes = windowBytes;
  }

  /** The error code with which either side closed it; NO_ERROR if both sides have ended. `undefined` while open. */
  get closeCode(): number | undefined {
    return this.#closeCode;
  }

  get unsentBytes(): number {
    return this.unsent.length;
  }

  /** Queues more data and sends it as far as the windows permit; does nothing on a closed stream. */
  send({ head = this.head, data, trailers = this.trailers, isLast = this.isLast }: Outgoing): void {
    if (this.#closeCode !== undefined) return;
    this.head = head;
    if (data !== undefined) this.unsent = this.unsent.length === 0 ? data : Buffer.concat([this.unsent, data]);
    this.trailers = trailers;
    this.isLast = isLast || trailers !== undefined;
    this.#host.send(this);
  }

  /** Called by the connection when it has sent the head, so many bytes of data and, if no data remains, the trailers. */
  sent(bytes: number): void {
    this.head = undefined;
    this.sendWindowBytes -= bytes;
    this.unsent = this.unsent.subarray(bytes);
    if (this.unsent.length === 0) this.trailers = undefined;
  }

  /** Releases so many bytes of the receive window: the owner has consumed them. */
  take(bytes: number): void {
    this.#takenBytes += bytes;
    if (this.#takenBytes < this.#windowBytes / 2 || this.#closeCode !== undefined || this.hasEnded) return;
    this.#host.grant(this, this.#takenBytes);
    this.#receiveWindowBytes += this.#takenBytes;
    this.#takenBytes = 0;
  }

  /** Closes the stream immediately and sends the peer a reset. */
  cut(code: number = END_CODE.cancel): void {
    if (this.#closeCode !== undefined) return;
    this.close(code);
    this.#host.reset(this, code);
  }

  /** Called by the connection with received headers. */
  receiveHeaders(fields: readonly HeaderField[], isLast: boolean): void {
    this.listener?.onHeaders?.(fields, isLast);
  }

  /** `sizeBytes` is the length with padding. False if it exceeds the receive window. */
  receiveData(bytes: Buffer, sizeBytes: number): boolean {
    this.#receiveWindowBytes -= sizeBytes;
    if (this.#receiveWindowBytes < 0) return false;
    if (sizeBytes > bytes.length) this.take(sizeBytes - bytes.length);
    this.listener?.onData(bytes);
    return true;
  }

  receiveEnd(): void {
    this.hasEnded = true;
    this.listener?.onEnd?.();
  }

  /** Marks the stream as closed, without a frame to the peer. */
  close(code: number): void {
    if (this.#closeCode !== undefined) return;
    this.#closeCode = code;
    this.unsent = NOTHING;
    this.listener?.onClose();
  }
}
