import { type FileHandle, open } from 'node:fs/promises';
import { errorMessage, type Limiter, LOG_FILE, type Logger } from '@podwright/base';

export type LogStream = 'stdout' | 'stderr';

/**
 * Output as a CRI log has it: `<time> <stream> <tag> <content>`, a line each, with the tag F for what ends a line and P for
 * what does not (kubelet, "CRI log format"). Nothing is held back for the rest of a line.
 */
export function formatCriLog(stream: LogStream, chunk: Buffer, time: string): Buffer {
  const text = chunk.toString('latin1'); // a character a byte: strings are searched and replaced faster than buffers
  const end = text.lastIndexOf('\n') + 1;
  const full = `${time} ${stream} F `;
  const lines = end === 0 ? '' : `${full}${text.slice(0, end - 1).replaceAll('\n', `\n${full}`)}\n`;
  const rest = end === text.length ? '' : `${time} ${stream} P ${text.slice(end)}\n`;
  return Buffer.from(lines + rest, 'latin1');
}

/**
 * The CRI log file of a task, written by this process. Each chunk is written at once, after those before it: the caller takes the
 * next one from the task's pipe when this one is written, so no more than a chunk of a stream is lost when we are killed.
 */
export class CriLog {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #writers: Limiter;
  #file: FileHandle | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  #failed = false;
  #closed = false;

  /**
   * A log that is written once `reopen` has opened it. `writers` bounds how many logs are written at once: a write to a disk that
   * does not answer keeps a thread of Node.js's pool, which all other work with files needs, too.
   */
  constructor(path: string, { logger, writers }: { logger: Logger; writers: Limiter }) {
    this.#path = path;
    this.#logger = logger;
    this.#writers = writers;
  }

  /** Settles when the chunk is in the file. A log that cannot be written is logged once; the task goes on without. */
  write(stream: LogStream, chunk: Buffer): Promise<void> {
    const bytes = formatCriLog(stream, chunk, new Date().toISOString());
    this.#lastWrite = this.#lastWrite.then(() => this.#writers.run(() => this.#append(bytes)));
    return this.#lastWrite;
  }

  /** Opens the path anew, as after a rotation: what is written from now on goes there. */
  async reopen(): Promise<void> {
    const file = await open(this.#path, 'a', LOG_FILE);
    this.#release(this.#file);
    this.#file = file;
    if (this.#closed) this.close();
  }

  /** Writes no more than what it was given. */
  close(): void {
    this.#closed = true;
    this.#lastWrite = this.#lastWrite.then(() => {
      this.#release(this.#file);
      this.#file = undefined;
    });
  }

  async #append(bytes: Buffer): Promise<void> {
    try {
      await this.#file?.appendFile(bytes);
      this.#failed = false;
    } catch (error) {
      this.#warn(error);
    }
  }

  /** The handle waits for the write that is under way. */
  #release(file: FileHandle | undefined): void {
    file?.close().catch((error) => this.#warn(error));
  }

  #warn(error: unknown): void {
    if (!this.#failed) this.#logger.warn({ log: this.#path, error: errorMessage(error) }, "write a task's log");
    this.#failed = true;
  }
}
