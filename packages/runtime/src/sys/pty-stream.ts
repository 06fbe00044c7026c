import { writeSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { ReadStream } from 'node:tty';
import { isErrno } from '@podwright/base';

/** How long to wait for a terminal whose input is full: its program reads 4 KiB in much less. */
const fullRetryMs = 2;

/**
 * The master of a pseudo terminal as streams. libuv reads it in the event loop but would write to it blocking, so writing is
 * done here. The descriptor, which must be non-blocking, is closed with `output`; it ends when nobody has the slave open.
 */
export function openPtyStreams(master: number): { input: Writable; output: Readable } {
  const source = new ReadStream(master);
  let closed = false;
  source.once('close', () => {
    closed = true;
  });
  return { input: new PtyInput(master, () => closed || source.destroyed), output: new PtyOutput(source) };
}

class PtyOutput extends Readable {
  readonly #source: ReadStream;

  constructor(source: ReadStream) {
    super();
    this.#source = source;
    source.on('data', (chunk) => {
      if (!this.push(chunk)) source.pause();
    });
    source.once('end', () => this.#end());
    // EIO is how a terminal says that its other side is closed.
    source.once('error', (error) => (isErrno(error, 'EIO') ? this.#end() : this.destroy(error)));
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#source.destroy();
    callback(error);
  }

  #end(): void {
    this.push(null);
    this.#source.destroy();
  }
}

class PtyInput extends Writable {
  readonly #descriptor: number;
  readonly #isClosed: () => boolean;
  #retry: NodeJS.Timeout | undefined;

  constructor(descriptor: number, isClosed: () => boolean) {
    super({ decodeStrings: true });
    this.#descriptor = descriptor;
    this.#isClosed = isClosed;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    let left = chunk;
    const attempt = () => {
      // Input for a program that has ended goes nowhere, as with any terminal.
      if (this.#isClosed()) return callback();
      try {
        left = left.subarray(writeSync(this.#descriptor, left));
      } catch (error) {
        if (isErrno(error, 'EIO')) return callback();
        if (!isErrno(error, 'EAGAIN')) return callback(error as Error);
      }
      if (left.length === 0) return callback();
      this.#retry = setTimeout(attempt, fullRetryMs);
    };
    attempt();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    clearTimeout(this.#retry);
    callback(error);
  }
}
