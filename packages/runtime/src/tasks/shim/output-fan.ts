import { Readable } from 'node:stream';
import { openFifoReader } from './fifo.ts';
import { CHUNK_BYTES } from './limits.ts';

/**
 * Reads a FIFO chunk by chunk, and passes each chunk to `take` and to all readers added so far. Reads the next chunk once `take` has
 * settled and every reader needs more data. Until then, output stays in the pipe, and writers block when the pipe is full.
 */
export class OutputFan {
  readonly #take: (chunk: Buffer) => Promise<void>;
  readonly #source: ReturnType<typeof openFifoReader>;
  readonly #readers = new Set<Readable>();
  readonly #full = new Set<Readable>();
  readonly #ended = Promise.withResolvers<void>();
  #taking = false;

  constructor(path: string, take: (chunk: Buffer) => Promise<void>) {
    this.#take = take;
    const callback = (sizeBytes: number, buffer: Uint8Array) => {
      void this.#pass(Buffer.from(buffer.buffer, buffer.byteOffset, sizeBytes));
      return false;
    };
    this.#source = openFifoReader(path, { buffer: Buffer.allocUnsafeSlow(CHUNK_BYTES), callback });
    this.#source.once('close', () => this.#end());
    this.#source.resume();
  }

  /** Settles once the FIFO has ended or has been closed, and `take` has settled for all chunks. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get isTaking(): boolean {
    return this.#taking;
  }

  /** Whether a reader whose buffer is full is holding up the others. */
  get isHeldUp(): boolean {
    return this.#full.size > 0;
  }

  /** Adds a reader and returns it: a stream of the output from now on. `remove` ends the stream. */
  add(): Readable {
    // The stream buffers one chunk, because many small chunks cost far more memory than the bytes they contain.
    const reader: Readable = new Readable({ highWaterMark: 1, read: () => this.#release(reader) });
    if (this.#source.closed) reader.push(null);
    else this.#readers.add(reader);
    return reader;
  }

  remove(reader: Readable): void {
    if (!this.#readers.delete(reader)) return;
    reader.push(null);
    this.#release(reader);
  }

  /** Stops reading the FIFO. */
  close(): void {
    this.#source.destroy();
  }

  async #pass(chunk: Buffer): Promise<void> {
    this.#taking = true;
    const copy = this.#readers.size === 0 ? chunk : Buffer.from(chunk);
    for (const reader of this.#readers) if (!reader.push(copy)) this.#full.add(reader);
    await this.#take(chunk);
    this.#taking = false;
    if (this.#source.closed) this.#end();
    else this.#readOn();
  }

  #release(reader: Readable): void {
    if (this.#full.delete(reader)) this.#readOn();
  }

  #readOn(): void {
    if (!this.#taking && this.#full.size === 0) this.#source.resume();
  }

  #end(): void {
    for (const reader of this.#readers) reader.push(null);
    this.#readers.clear();
    if (!this.#taking) this.#ended.resolve();
  }
}
