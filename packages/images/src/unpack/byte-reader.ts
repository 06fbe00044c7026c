import { BLOCK_BYTES, truncated } from './tar-header.ts';

/** Cuts a stream of chunks into the lengths that are asked for, copying only where a piece spans chunks. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#source = stream[Symbol.asyncIterator]();
  }

  /** The next piece of at most `limit` bytes; undefined at the stream's end. */
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

  /** Exactly `length` bytes, or a `data_loss` error that says where the stream ended. */
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

  /** A whole block; undefined if the stream ends before it. */
  async block(): Promise<Buffer | undefined> {
    const first = await this.some(BLOCK_BYTES);
    if (first === undefined || first.length === BLOCK_BYTES) return first;
    return Buffer.concat([first, await this.exactly(BLOCK_BYTES - first.length, 'a header')]);
  }

  async skip(length: number, where: string): Promise<void> {
    for (let left = length; left > 0; ) {
      const piece = await this.some(left);
      if (piece === undefined) throw truncated(where);
      left -= piece.length;
    }
  }

  /** Reads the stream to its end. */
  async drain(): Promise<void> {
    while ((await this.some(Number.MAX_SAFE_INTEGER)) !== undefined);
  }

  /** Tells the source that no more is wanted. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
