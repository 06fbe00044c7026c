/** DNS messages over TCP, each prefixed by its length in two bytes (RFC 1035, section 4.2.2). */
import { PodwrightError } from '@podwright/base';

const LENGTH_BYTES = 2;

/** Returns a message prefixed by its length. */
export function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(message.length + LENGTH_BYTES);
  frame.writeUInt16BE(message.length, 0);
  message.copy(frame, LENGTH_BYTES);
  return frame;
}

export type FrameReaderOptions = { maxBytes: number; onMessage: (message: Buffer) => void };

/** Splits a stream into messages. Buffers at most one incomplete message. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  /** The length prefix or message currently being received. */
  #part: Buffer = Buffer.alloc(LENGTH_BYTES);
  #filled = 0;
  #isLength = true;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Throws `resource_exhausted` if a message is longer than `maxBytes`. */
  add(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length || this.#filled === this.#part.length) {
      const copied = chunk.copy(this.#part, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled === this.#part.length) this.#finishPart();
    }
  }

  #finishPart(): void {
    const part = this.#part;
    this.#filled = 0;
    if (!this.#isLength) {
      this.#isLength = true;
      this.#part = Buffer.alloc(LENGTH_BYTES);
      this.#options.onMessage(part);
      return;
    }
    const length = part.readUInt16BE(0);
    if (length > this.#options.maxBytes)
      throw new PodwrightError('resource_exhausted', `a message of ${length} bytes is too long`);
    this.#isLength = false;
    this.#part = Buffer.allocUnsafe(length);
  }
}
