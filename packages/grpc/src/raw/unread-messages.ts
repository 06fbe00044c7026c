import { UnreadBytes } from '../http2/unread-bytes.ts';
import { bytesOfFirstMessage, MessageReader } from '../message-reader.ts';

/** Received messages of a raw call that its reader has not consumed yet. Messages include their prefixes, and may be compressed. */
export class UnreadMessages {
  readonly #bytes = new UnreadBytes();
  #hasData = false;

  /** Adds received bytes, which the caller may overwrite afterwards. */
  add(bytes: Buffer): void {
    this.#bytes.add(bytes, this.#hasData ? undefined : bytesOfFirstMessage(bytes));
    this.#hasData = true;
  }

  /** Marks the end of the messages. No more bytes may be added. */
  end(): void {
    this.#bytes.end();
  }

  /**
   * Yields the messages until the end. `take` is called with the number of bytes before they are read, and may throw. Throws
   * `resource_exhausted` if a message is too large.
   */
  async *read(take: (bytes: number) => void): AsyncGenerator<Buffer> {
    const reader = new MessageReader(undefined, { isRaw: true });
    for (let bytes = await this.#bytes.next(); bytes !== undefined; bytes = await this.#bytes.next()) {
      take(bytes.length);
      yield* reader.push(bytes);
    }
  }
}
