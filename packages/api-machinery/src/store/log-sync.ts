import { closeSync, fdatasync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage, PodwrightError } from '@podwright/base';
import { syncDirectory } from '@podwright/host';

const fdatasyncOf = promisify(fdatasync);

/**
 * Syncs the write-ahead log of a store's SQLite file with fdatasync(2) in a thread, so that the event loop does not wait for the disk. Only
 * one sync may run at a time. Checkpoints do not depend on this: SQLite syncs the log before copying pages to the file, and the file before
 * overwriting the log.
 */
export class LogSync implements Disposable {
  readonly #path: string;
  #log: number | undefined;
  #isRunning = false;
  #isClosed = false;

  /** `path`: the SQLite file. Its log must exist when `sync` is called. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Makes all committed writes survive a power failure. Rejects with `unavailable` if the disk fails. */
  async sync(): Promise<void> {
    if (this.#isClosed) return; // SQLite syncs the file when it closes it
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

  /** Must be called after the database was closed. A sync that is still running finishes first and then closes the log. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    if (!this.#isRunning) this.#close();
  }

  /** Opens the write-ahead log, and syncs its parent directories, because their entries for the store's files may be new. */
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
