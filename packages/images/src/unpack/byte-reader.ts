import { BLOCK_BYTES, truncated } from './tar-header.ts';

/** Reads pieces of requested lengths from a stream of chunks. Copies only pieces that span chunks. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#source = stream[Symbol.asyncIterator]();
  }

  /** Returns the next piece, up to `limit` bytes; `undefined` at the end of the stream. */
  async some(limit: number): Promise<Buffer | undefined> {
    while (this.#chunk.length === 0) {
      const next = await this.#source.next();
      if (next.done) return undefined;
      this.#chunk = next.value;
    }
    const piece = this.#chunk.subarray(0, limit);
    this.#chunk = this.#chunk.subarray(piece.length);
    return piece;
  }

  /** Returns the next `length` bytes. Rejects with `data_loss` if the stream ends first; the error message contains `where`. */
  async exactly(length: number, where: string): Promise<Buffer> {
    const first = await this.some(length);
    if (first?.length === length) return first;
    const pieces = first === undefined ? [] : [first];
    for (let have = first?.length ?? 0; have < length; ) {
      const piece = await this.some(length - have);
      if (piece === undefined) throw truncated(where);
      pieces.push(piece);
      have += piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** Returns the next tar block; `undefined` at the end of the stream. */
  async block(): Promise<Buffer | undefined> {
    const first = await this.some(BLOCK_BYTES);
    if (first === undefined || first.length === BLOCK_BYTES) return first;
    return Buffer.concat([first, await this.exactly(BLOCK_BYTES - first.length, 'a header')]);
  }

  async skip(length: number, where: string): Promise<void> {
    if ((await this.skipUpTo(length)) < length) throw truncated(where);
  }

  /** Skips `length` bytes, or fewer if the stream ends first. Returns the number of bytes skipped. */
  async skipUpTo(length: number): Promise<number> {
    let skipped = 0;
    while (skipped < length) {
      const piece = await this.some(length - skipped);
      if (piece === undefined) break;
      skipped += piece.length;
    }
    return skipped;
  }

  /** Reads the stream to its end and discards the data. */
  async drain(): Promise<void> {
    while ((await this.some(Number.MAX_SAFE_INTEGER)) !== undefined);
  }

  /** Closes the underlying stream of chunks. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
