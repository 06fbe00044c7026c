import { BoundedBytes } from '@podwright/base';

/** Received bytes of a streaming response that its reader has not consumed yet. Their number is limited by the stream's receive window. */
export class UnreadBytes {
  #bytes = none();
  #isWhole = false;
  #news = Promise.withResolvers<void>();

  /** Adds received bytes, which the caller may overwrite afterwards. */
  add(bytes: Buffer): void {
    this.#bytes.add(bytes);
    this.#news.resolve();
  }

  /** Marks the end of the response. No more bytes may be added. */
  end(): void {
    this.#isWhole = true;
    this.#news.resolve();
  }

  /** Waits for bytes and returns all that were received since the last call, or `undefined` at the end. */
  async next(): Promise<Buffer | undefined> {
    while (this.#bytes.sizeBytes === 0 && !this.#isWhole) {
      await this.#news.promise;
      this.#news = Promise.withResolvers();
    }
    const bytes = this.#bytes.bytes();
    this.#bytes = none();
    return bytes.length === 0 ? undefined : bytes;
  }
}

const none = () => new BoundedBytes(Number.POSITIVE_INFINITY);
