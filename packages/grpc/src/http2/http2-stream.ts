import { END_CODE } from './end-codes.ts';
import type { HeaderField } from './static-table.ts';

/** Callbacks for a stream. */
export type StreamListener = {
  /** Called with received headers. `isLast` is set if they end the peer's side. */
  onHeaders?: (fields: readonly HeaderField[], isLast: boolean) => void;
  /** Called with received bytes, which are valid only until it returns. The owner must call `take` once it has consumed them. */
  onData: (bytes: Buffer) => void;
  /** Called when the peer has ended its side. */
  onEnd?: () => void;
  /** Called when all pending data has been sent, which allows the owner to send more. */
  onSent?: () => void;
  /** Called last, when both sides have ended or the stream was reset. */
  onClose: () => void;
};

/** The operations that a stream requires from its connection. */
export type StreamHost = {
  /** Sends the stream's pending data. */
  send: (stream: Http2Stream) => void;
  /** Resets the stream and notifies the peer. */
  reset: (stream: Http2Stream, code: number) => void;
  /** Increases the receive window that the peer may use for the stream. */
  grant: (stream: Http2Stream, bytes: number) => void;
};

/** Data to send on a stream. The fields are sent in this order. */
export type Outgoing = {
  /** Header block of the response or request. */
  head?: Buffer;
  data?: Buffer;
  /** Header block of the trailers, which ends this side of the stream. */
  trailers?: Buffer;
  /** Whether this side of the stream ends after this data. */
  isLast?: boolean;
};

const NOTHING = Buffer.alloc(0);

/** An HTTP/2 stream (RFC 9113, 5), used by both clients and servers. */
export class Http2Stream {
  readonly #host: StreamHost;
  readonly #windowBytes: number;
  listener: StreamListener | undefined;
  /** The stream ID; 0 until the stream is opened. */
  id = 0;
  /** Data waiting to be sent. Flow control applies only to `unsent`. */
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

  /** `windowBytes` is the size of the stream's receive window. */
  constructor(host: StreamHost, windowBytes: number) {
    this.#host = host;
    this.#windowBytes = windowBytes;
    this.#receiveWindowBytes = windowBytes;
  }

  /** The error code sent by the side that closed the stream, or NO_ERROR if both sides have ended. `undefined` while the stream is open. */
  get closeCode(): number | undefined {
    return this.#closeCode;
  }

  get unsentBytes(): number {
    return this.unsent.length;
  }

  /** Queues more data and sends as much as the windows permit. Does nothing on a closed stream. */
  send({ head = this.head, data, trailers = this.trailers, isLast = this.isLast }: Outgoing): void {
    if (this.#closeCode !== undefined) return;
    this.head = head;
    if (data !== undefined) this.unsent = this.unsent.length === 0 ? data : Buffer.concat([this.unsent, data]);
    this.trailers = trailers;
    this.isLast = isLast || trailers !== undefined;
    this.#host.send(this);
  }

  /** Called by the connection when it has sent the head, `bytes` bytes of the data and, if no data remains, the trailers. */
  sent(bytes: number): void {
    this.head = undefined;
    this.sendWindowBytes -= bytes;
    this.unsent = this.unsent.subarray(bytes);
    if (this.unsent.length === 0) this.trailers = undefined;
  }

  /** Returns consumed bytes to the receive window. */
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

  /** Called by the connection when it has received headers. */
  receiveHeaders(fields: readonly HeaderField[], isLast: boolean): void {
    this.listener?.onHeaders?.(fields, isLast);
  }

  /**
   * Called by the connection with received data. `sizeBytes` includes the padding. Returns false if the data exceeds the receive window.
   */
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

  /** Marks the stream as closed without notifying the peer. */
  close(code: number): void {
    if (this.#closeCode !== undefined) return;
    this.#closeCode = code;
    this.unsent = NOTHING;
    this.listener?.onClose();
  }
}
