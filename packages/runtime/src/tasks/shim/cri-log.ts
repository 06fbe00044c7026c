import { type FileHandle, open } from 'node:fs/promises';
import { errorMessage, type Limiter, LOG_FILE, type Logger } from '@podwright/base';
import { makeLogDirectory } from '../log-directory.ts';

export type LogStream = 'stdout' | 'stderr';

/**
 * Formats output as a CRI log. Each line is `<time> <stream> <tag> <content>`, with the tag F for a full line and P for a partial line
 * (kubelet, "CRI log format"). Partial lines are logged without waiting for the rest.
 */
export function formatCriLog(stream: LogStream, chunk: Buffer, time: string): Buffer {
  const text = chunk.toString('latin1'); // one character per byte: strings are searched and replaced faster than buffers
  const end = text.lastIndexOf('\n') + 1;
  const full = `${time} ${stream} F `;
  const lines = end === 0 ? '' : `${full}${text.slice(0, end - 1).replaceAll('\n', `\n${full}`)}\n`;
  const rest = end === text.length ? '' : `${time} ${stream} P ${text.slice(end)}\n`;
  return Buffer.from(lines + rest, 'latin1');
}

/**
 * A task's CRI log file, written by this process. Chunks are written immediately and in order. The caller reads the next chunk from the
 * task's pipe only after the write, so at most one chunk per stream is lost if this process is killed.
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
   * `reopen` must be called before the first write. `writers` limits the number of concurrently written logs: a write to a hanging disk
   * blocks a thread of Node.js's thread pool, which all other file operations need too.
   */
  constructor(path: string, { logger, writers }: { logger: Logger; writers: Limiter }) {
    this.#path = path;
    this.#logger = logger;
    this.#writers = writers;
  }

  /** Settles once the chunk has been written. Consecutive write failures are logged only once; the task keeps running. */
  write(stream: LogStream, chunk: Buffer): Promise<void> {
    const bytes = formatCriLog(stream, chunk, new Date().toISOString());
    this.#lastWrite = this.#lastWrite.then(() => this.#writers.run(() => this.#append(bytes)));
    return this.#lastWrite;
  }

  /** Reopens the log file by path, for example after a rotation. Later chunks are written to the new file. */
  async reopen(): Promise<void> {
    await makeLogDirectory(this.#path);
    const file = await open(this.#path, 'a', LOG_FILE);
    this.#release(this.#file);
    this.#file = file;
    if (this.#closed) this.close();
  }

  /** Closes the log file after pending writes. */
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

  /** Closes a file handle after its current write. */
  #release(file: FileHandle | undefined): void {
    file?.close().catch((error) => this.#warn(error));
  }

  #warn(error: unknown): void {
    if (!this.#failed) this.#logger.warn({ log: this.#path, error: errorMessage(error) }, "cannot write a task's log");
    this.#failed = true;
  }
}
