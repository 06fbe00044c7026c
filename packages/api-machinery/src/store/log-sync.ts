import { closeSync, fdatasync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage, PodwrightError } from '@podwright/base';
import { syncDirectory } from '@podwright/host';

const fdatasyncOf = promisify(fdatasync);

/**
 * Syncs the write-ahead log of a store's file to disk, in a thread of libuv, one sync at a time. SQLite itself syncs the log before it
 * copies pages of it to the file, and the file before it overwrites the log.
 */
export class LogSync implements Disposable {
  readonly #path: string;
  #log: number | undefined;
  #isRunning = false;
  #isClosed = false;

  /** `path`: the store's file, whose log exists at the first sync. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Rejects with `unavailable` if the disk fails. */
  async sync(): Promise<void> {
    if (this.#isClosed) return; // SQLite has synced the file when it closed it
    this.#isRunning = true;
    try {
      this.#log ??= await this.#open();
      await fdatasyncOf(this.#log);
    } catch (error) {
      const advice = 'check the disk, and then restart: until then, writes fail';
      const message = `sync the objects of the API server in ${this.#path}: ${errorMessage(error)}; ${advice}`;
      throw new PodwrightError('unavailable', message, { cause: error });
    } finally {
      this.#isRunning = false;
      if (this.#isClosed) this.#close();
    }
  }

  /** Must be called after the database was closed. A sync that runs ends by itself. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    if (!this.#isRunning) this.#close();
  }

  /** Also syncs the names of the files, which may be new. */
  async #open(): Promise<number> {
    const directory = dirname(this.#path);
    for (const one of [directory, dirname(directory)]) await syncDirectory(one);
    return openSync(`${this.#path}-wal`, 'r');
  }

  #close(): void {
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
  }
}
