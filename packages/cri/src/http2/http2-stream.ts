import { END_CODE } from './end-codes.ts';
import type { HeaderField } from './static-table.ts';

/** What hears of a stream. */
export type StreamListener = {
  /** The headers of the other side, or its trailers, with which it has said all. */
  onHeaders?: (fields: readonly HeaderField[], isLast: boolean) => void;
  /** The next bytes, which are what they are until this returns. Its owner says when it has made use of them (`take`). */
  onData: (bytes: Buffer) => void;
  /** The other side has said all. */
  onEnd?: () => void;
  /** What was to be sent has been, and there is room for more. */
  onSent?: () => void;
  /** The last that is heard: both sides have said all, or the stream was cut. */
  onClose: () => void;
};

/** What a stream has its connection do. */
export type StreamHost = {
  /** Something new is to be sent. */
  send: (stream: Http2Stream) => void;
  /** Tells the other side that the stream is cut. */
  reset: (stream: Http2Stream, code: number) => void;
  /** Lets the other side send so many more bytes. */
  grant: (stream: Http2Stream, bytes: number) => void;
};

/** What is sent of a stream, in this order. */
export type Outgoing = {
  /** A header block. */
  head?: Buffer;
  data?: Buffer;
  /** A header block, after which nothing comes. */
  trailers?: Buffer;
  /** Nothing comes after that. */
  isLast?: boolean;
};

const NOTHING = Buffer.alloc(0);

/** A stream of HTTP/2 (RFC 9113, 5), at either side. */
export class Http2Stream {
  readonly #host: StreamHost;
  readonly #windowBytes: number;
  listener: StreamListener | undefined;
  /** 0 until it is opened. */
  id = 0;
  /** What is to be sent still. Only data minds the windows. */
  head: Buffer | undefined;
  unsent: Buffer = NOTHING;
  trailers: Buffer | undefined;
  isLast = false;
  /** How much data the other side takes now. */
  sendWindowBytes = 0;
  /** The other side has said all. */
  hasEnded = false;
  #receiveWindowBytes: number;
  #takenBytes = 0;
  #closeCode: number | undefined;

  /** The other side may send `windowBytes` at once. */
  constructor(host: StreamHost, windowBytes: number) {
    this.#host = host;
    this.#windowBytes = windowBytes;
    this.#receiveWindowBytes = windowBytes;
  }

  /** Why it was cut, by either side; NO_ERROR if it has come to its end. `undefined` until then. */
  get closeCode(): number | undefined {
    return this.#closeCode;
  }

  /** Sends more, as soon as the other side takes it; nothing once it is closed. */
  send({ head = this.head, data, trailers = this.trailers, isLast = this.isLast }: Outgoing): void {
    if (this.#closeCode !== undefined) return;
    this.head = head;
    if (data !== undefined) this.unsent = this.unsent.length === 0 ? data : Buffer.concat([this.unsent, data]);
    this.trailers = trailers;
    this.isLast = isLast || trailers !== undefined;
    this.#host.send(this);
  }

  /** Its connection has sent the head, so much of the data, and if that is all of it, the trailers. */
  sent(bytes: number): void {
    this.head = undefined;
    this.sendWindowBytes -= bytes;
    this.unsent = this.unsent.subarray(bytes);
    if (this.unsent.length === 0) this.trailers = undefined;
  }

  /** Its owner has made use of so many bytes. */
  take(bytes: number): void {
    this.#takenBytes += bytes;
    if (this.#takenBytes < this.#windowBytes / 2 || this.#closeCode !== undefined || this.hasEnded) return;
    this.#host.grant(this, this.#takenBytes);
    this.#receiveWindowBytes += this.#takenBytes;
    this.#takenBytes = 0;
  }

  /** Ends it here at once; the other side is told. */
  cut(code: number = END_CODE.cancel): void {
    if (this.#closeCode !== undefined) return;
    this.close(code);
    this.#host.reset(this, code);
  }

  /** What its connection has got for it. */
  receiveHeaders(fields: readonly HeaderField[], isLast: boolean): void {
    this.listener?.onHeaders?.(fields, isLast);
  }

  /** `sizeBytes` is what came, with padding. False if that is more than may come. */
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

  /** It is open no more. */
  close(code: number): void {
    if (this.#closeCode !== undefined) return;
    this.#closeCode = code;
    this.unsent = NOTHING;
    this.listener?.onClose();
  }
}
