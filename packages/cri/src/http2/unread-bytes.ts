import { BoundedBytes } from '@podwright/base';

/** What has come of an answer in many messages, and was not asked for yet: as much as the window of its stream lets through. */
export class UnreadBytes {
  #bytes = none();
  #isWhole = false;
  #news = Promise.withResolvers<void>();

  /** The bytes may be used again afterwards. */
  add(bytes: Buffer): void {
    this.#bytes.add(bytes);
    this.#news.resolve();
  }

  /** No more comes. */
  end(): void {
    this.#isWhole = true;
    this.#news.resolve();
  }

  /** What has come since the last time, as soon as something has; `undefined` after the last. */
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
