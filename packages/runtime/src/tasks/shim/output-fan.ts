import { Readable } from 'node:stream';

/**
 * Hands what one stream gives to any number of readers, each from its own start on. With readers it goes at the pace of the
 * slowest; without any it goes on.
 */
export class OutputFan {
  readonly #source: Readable;
  readonly #readers = new Set<Readable>();
  readonly #full = new Set<Readable>();
  #ended = false;
  /** Settles when the source has ended or was destroyed. */
  readonly ended: Promise<void>;

  constructor(source: Readable, onData: (chunk: Buffer) => void) {
    this.#source = source;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    source.on('data', (chunk: Buffer) => {
      onData(chunk);
      for (const reader of this.#readers) if (!reader.push(chunk)) this.#full.add(reader);
      if (this.#full.size > 0) source.pause();
    });
    source.once('close', () => {
      this.#ended = true;
      for (const reader of this.#readers) reader.push(null);
      this.#readers.clear();
      resolve();
    });
    source.once('end', () => source.destroy());
  }

  /** A stream of what comes from now on. `remove` ends it. */
  add(): Readable {
    // A chunk each: many bytes may come in as many chunks, which cost far more than their bytes.
    const reader: Readable = new Readable({ highWaterMark: 1, read: () => this.#release(reader) });
    if (this.#ended) reader.push(null);
    else this.#readers.add(reader);
    return reader;
  }

  remove(reader: Readable): void {
    if (!this.#readers.delete(reader)) return;
    reader.push(null);
    this.#release(reader);
  }

  #release(reader: Readable): void {
    if (this.#full.delete(reader) && this.#full.size === 0) this.#source.resume();
  }
}
