import { END_CODE } from '../http2/frames.ts';

/** How much of an answer may come at once: lists of hundreds of containers come without waiting for us in between. */
export const WINDOW_BYTES = 1 << 20;

/** What hears of a stream. */
export type StreamListener = {
  /** The headers of the answer, or its trailers. */
  onHeaders: (fields: ReadonlyMap<string, string>) => void;
  /** The next bytes of the answer, which are what they are until this returns. Its owner says when it has made use of them (`take`). */
  onData: (bytes: Buffer) => void;
  /** The last that is heard: the other side has said all, or the stream was cut. */
  onClose: () => void;
};

/** What a stream has its connection do. */
export type StreamHost = {
  /** Tells the other side that the stream is cut. */
  reset: (stream: CallStream, code: number) => void;
  /** Lets the other side send so many more bytes. */
  grant: (stream: CallStream, bytes: number) => void;
};

const NOTHING = Buffer.alloc(0);

/** The HTTP/2 stream of one call. */
export class CallStream {
  readonly #host: StreamHost;
  readonly #listener: StreamListener;
  /** `undefined` while as many streams are open as the other side takes. */
  id: number | undefined;
  /** What is to be sent still, and how much of it the other side takes of this stream now. */
  unsent: Buffer;
  sendWindowBytes = 0;
  #receiveWindowBytes = WINDOW_BYTES;
  #takenBytes = 0;
  #isAnswered = false;
  #closeCode: number | undefined;

  constructor(body: Buffer, host: StreamHost, listener: StreamListener) {
    this.unsent = body;
    this.#host = host;
    this.#listener = listener;
  }

  /** Why it was cut, by either side; NO_ERROR if the other side has said all. `undefined` until then. */
  get closeCode(): number | undefined {
    return this.#closeCode;
  }

  /** Its owner has made use of so many bytes of the answer. */
  take(bytes: number): void {
    this.#takenBytes += bytes;
    if (this.#takenBytes < WINDOW_BYTES / 2 || this.#closeCode !== undefined) return;
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
  headers(fields: ReadonlyMap<string, string>, isLast: boolean): void {
    if (fields.get(':status')?.startsWith('1')) return; // the answer is still to come
    const isTrailers = this.#isAnswered;
    this.#isAnswered = true;
    if (isTrailers && !isLast) this.cut(END_CODE.protocolError);
    else this.#listener.onHeaders(fields);
  }

  /** `sizeBytes` is what came, with padding. False if that is more than may come. */
  data(bytes: Buffer, sizeBytes: number): boolean {
    this.#receiveWindowBytes -= sizeBytes;
    if (this.#receiveWindowBytes < 0) return false;
    if (sizeBytes > bytes.length) this.take(sizeBytes - bytes.length);
    this.#listener.onData(bytes);
    return true;
  }

  /** It is open no more. */
  close(code: number): void {
    if (this.#closeCode !== undefined) return;
    this.#closeCode = code;
    this.unsent = NOTHING;
    this.#listener.onClose();
  }
}
