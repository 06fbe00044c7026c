import type { Readable } from 'node:stream';
import { ClientOutput, ClientPace } from '../client-output.ts';
import { ATTACH_BUFFER_BYTES, ATTACH_PATIENCE_MS, ATTACH_POLL_MS } from '../limits.ts';
import { openFifoReader } from './fifo.ts';
import { CHUNK_BYTES } from './limits.ts';

type Reader = { output: ClientOutput; pace: ClientPace; onTooSlow: () => void };

/**
 * Reads a FIFO in chunks, and passes each chunk to `take` and to all current readers. The next chunk is read when `take` has settled and no
 * reader's buffer is full. Until then, output stays in the pipe, and writers block if it is full. Readers that block others for two seconds
 * are reported.
 */
export class OutputFan {
  readonly #take: (chunk: Buffer) => Promise<void>;
  readonly #source: ReturnType<typeof openFifoReader>;
  readonly #readers = new Map<Readable, Reader>();
  readonly #ended = Promise.withResolvers<void>();
  #taking = false;
  #timer: NodeJS.Timeout | undefined;

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

  /** Settles once the FIFO has ended or has been closed, and `take` has settled for each chunk. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get isTaking(): boolean {
    return this.#taking;
  }

  /** Whether a reader with a full buffer is blocking the others. */
  get isHeldUp(): boolean {
    return [...this.#readers.values()].some(({ pace }) => pace.isHeld());
  }

  /**
   * Adds a reader: returns a stream of the output from now on. `remove` ends the stream. `onTooSlow` is called if the reader blocks the
   * others for too long; it must remove the reader.
   */
  add(onTooSlow: () => void = () => undefined): Readable {
    const output = new ClientOutput(() => this.#readOn());
    const pace = new ClientPace([output], { bufferBytes: ATTACH_BUFFER_BYTES, patienceMs: ATTACH_PATIENCE_MS });
    if (this.#source.closed) output.end();
    else this.#readers.set(output.stream, { output, pace, onTooSlow });
    return output.stream;
  }

  /** Removes a reader. If `error` is set, discards its unread output and destroys its stream. */
  remove(reader: Readable, error?: Error): void {
    const output = this.#readers.get(reader)?.output;
    this.#readers.delete(reader);
    if (error === undefined) output?.end();
    else output?.fail(error);
    this.#readOn();
  }

  /** Stops reading the FIFO. */
  close(): void {
    this.#source.destroy();
  }

  async #pass(chunk: Buffer): Promise<void> {
    this.#taking = true;
    for (const { output } of this.#readers.values()) output.write(chunk);
    await this.#take(chunk);
    this.#taking = false;
    if (this.#source.closed) this.#end();
    else this.#readOn();
  }

  #readOn(): void {
    if (this.#taking) return;
    if (!this.isHeldUp) this.#source.resume();
    else this.#timer ??= setInterval(() => this.#checkReaders(), ATTACH_POLL_MS).unref();
  }

  #checkReaders(): void {
    if (!this.isHeldUp) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const { pace, onTooSlow } of [...this.#readers.values()]) if (pace.isTooSlow()) onTooSlow();
  }

  #end(): void {
    clearInterval(this.#timer);
    for (const { output } of this.#readers.values()) output.end();
    this.#readers.clear();
    if (!this.#taking) this.#ended.resolve();
  }
}
