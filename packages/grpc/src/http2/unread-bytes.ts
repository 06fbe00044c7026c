import { BoundedBytes } from '@podwright/base';
import { MAX_FRAME_BYTES } from './frames.ts';

/** Initial size of the buffer if the first bytes fill a whole frame, as more frames then usually follow. */
const INITIAL_BYTES = 4 * MAX_FRAME_BYTES;

/** Received bytes of a streaming response that its reader has not consumed yet. Their number is limited by the stream's receive window. */
export class UnreadBytes {
  #bytes: BoundedBytes | undefined;
  #isWhole = false;
  #news = Promise.withResolvers<void>();

  /**
   * Adds received bytes, which the caller may overwrite afterwards. `expectedBytes`: the size of the message that starts with them, if
   * known.
   */
  add(bytes: Buffer, expectedBytes?: number): void {
    if (bytes.length === 0) return;
    const firstBytes = expectedBytes ?? (bytes.length >= MAX_FRAME_BYTES ? INITIAL_BYTES : undefined);
    this.#bytes ??= new BoundedBytes(Number.POSITIVE_INFINITY, undefined, firstBytes);
    this.#bytes.add(bytes);
    this.#news.resolve();
  }

  /** Marks the end of the response. No more bytes may be added. */
  end(): void {
    this.#isWhole = true;
    this.#news.resolve();
  }

  /** Waits for bytes and returns all that were received since the last call, or `undefined` at the end. The caller owns the returned buffer. */
  async next(): Promise<Buffer | undefined> {
    while (this.#bytes === undefined && !this.#isWhole) {
      await this.#news.promise;
      this.#news = Promise.withResolvers();
    }
    const bytes = this.#bytes?.bytes();
    this.#bytes = undefined;
    return bytes;
  }
}
