/** A computation that yields whenever it needs more bytes than have arrived. */
export type Step<T> = Generator<void, T, void>;

const LINE_FEED = 0x0a;

/** Response bytes received but not yet read. */
export class AnswerInput {
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #closed: { error: Error | undefined } | undefined;

  /** Adds bytes received from the connection. They are copied, so the caller may reuse the chunk. */
  add(chunk: Buffer): void {
    if (this.#buffer.length - this.#end < chunk.length) this.#makeRoom(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** Marks the end of the input: the server closed the connection, or it failed with `error`. */
  close(error?: Error): void {
    this.#closed ??= { error };
  }

  /**
   * Reads the next line, without its LF. Returns `undefined` if the connection ends first. Throws if the line is longer than `maxBytes`.
   */
  *line(maxBytes: number): Step<string | undefined> {
    for (let seen = 0; ; ) {
      const unread = this.#buffer.subarray(this.#start, this.#end);
      const length = unread.indexOf(LINE_FEED, seen);
      if (length > maxBytes || (length < 0 && unread.length > maxBytes)) throw new Error('header line too long');
      if (length >= 0) {
        this.#start += length + 1;
        return unread.toString('utf8', 0, length);
      }
      if (this.#isAtEnd()) return undefined;
      seen = unread.length;
      yield;
    }
  }

  /** Returns the next byte without consuming it, or `undefined` if the connection ends first. */
  *peek(): Step<number | undefined> {
    while (this.#start === this.#end) {
      if (this.#isAtEnd()) return undefined;
      yield;
    }
    return this.#buffer[this.#start];
  }

  /**
   * Reads at least one and at most `maxBytes` bytes, which are valid until more bytes are added. Returns `undefined` if the connection ends
   * first.
   */
  *some(maxBytes: number): Step<Buffer | undefined> {
    if ((yield* this.peek()) === undefined) return undefined;
    const end = Math.min(this.#end, this.#start + maxBytes);
    const bytes = this.#buffer.subarray(this.#start, end);
    this.#start = end;
    return bytes;
  }

  /** Whether the server has closed the connection. Throws the error with which the connection failed. */
  #isAtEnd(): boolean {
    if (this.#closed?.error !== undefined) throw this.#closed.error;
    return this.#closed !== undefined;
  }

  #makeRoom(neededBytes: number): void {
    const unread = this.#buffer.subarray(this.#start, this.#end);
    const larger = Buffer.allocUnsafe(Math.max(unread.length + neededBytes, 2 * unread.length));
    larger.set(unread);
    this.#buffer = larger;
    this.#start = 0;
    this.#end = unread.length;
  }
}
