import { Readable } from 'node:stream';
import { openFifoReader } from './fifo.ts';
import { CHUNK_BYTES } from './limits.ts';

/**
 * Reads a FIFO chunk by chunk and hands each to `take`, and to any number of readers, each from its own start on. The next chunk is
 * read when `take` has settled and every reader wants more; meanwhile the pipe holds what is written, and then its writers wait.
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

  /** Settles when the FIFO has ended or was closed, and all that was read is taken. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether a chunk is being taken. */
  get isTaking(): boolean {
    return this.#taking;
  }

  /** Whether a reader has enough for now, so that nothing more is read. */
  get isHeldUp(): boolean {
    return this.#full.size > 0;
  }

  /** A stream of what comes from now on. `remove` ends it. */
  add(): Readable {
    // A chunk each: many bytes may come in as many chunks, which cost far more than their bytes.
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

  /** Reads no more. */
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
