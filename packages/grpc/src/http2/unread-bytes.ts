import { BoundedBytes } from '@podwright/base';

/** Received bytes of a streaming response that its reader has not consumed; the stream's window bounds them. */
export class UnreadBytes {
  #bytes = none();
  #isWhole = false;
  #news = Promise.withResolvers<void>();

  /** The caller may overwrite the bytes afterwards. */
  add(bytes: Buffer): void {
    this.#bytes.add(bytes);
    this.#news.resolve();
  }

  /** No more bytes follow. */
  end(): void {
    this.#isWhole = true;
    this.#news.resolve();
  }

  /** The bytes received since the last call, as soon as there are any; `undefined` at the end. */
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
