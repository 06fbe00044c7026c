import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage, PodwrightError } from '@podwright/base';
import { syncDirectory } from '@podwright/host';

const fdatasyncOf = promisify(fdatasync);

export type FileSyncOptions = {
  /** The file to sync. It must exist when a sync begins. */
  path: string;
  /** The SQLite file of the store, for error messages. */
  store: string;
};

/**
 * Syncs a file of a store with fdatasync(2) in a thread, so that the event loop does not wait for the disk. After a failed sync, all later
 * ones fail too: Linux reports a failed page write only once (fsync(2)), so a later success would say nothing about that page.
 */
export class FileSync implements Disposable {
  readonly #options: FileSyncOptions;
  #file: number | undefined;
  #running = 0;
  #isClosed = false;
  #failure: PodwrightError | undefined;

  constructor(options: FileSyncOptions) {
    this.#options = options;
  }

  /** Makes everything written so far survive a power failure. Rejects with `unavailable` if the disk fails. */
  async sync(): Promise<void> {
    if (this.#isClosed) return; // SQLite syncs its files when it closes them
    this.#running += 1;
    try {
      this.#file ??= await this.#open();
      await fdatasyncOf(this.#file);
    } catch (error) {
      this.#failure ??= this.#failed(error);
    } finally {
      this.#running -= 1;
      if (this.#isClosed && this.#running === 0) this.#close();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Does the same on the calling thread. */
  syncNow(): void {
    this.#file ??= openSync(this.#options.path, 'r');
    fdatasyncSync(this.#file);
  }

  /**
   * Must be called after the database was closed: closing any descriptor of the database's file releases this process's POSIX locks on it.
   * Syncs that are still running finish first.
   */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    if (this.#running === 0) this.#close();
  }

  /** Opens the file, and syncs its parent directories, because their entries for the store's files may be new. */
  async #open(): Promise<number> {
    const { path } = this.#options;
    const directory = dirname(path);
    for (const one of [directory, dirname(directory)]) await syncDirectory(one);
    return this.#file ?? openSync(path, 'r'); // another sync may have opened it meanwhile
  }

  #failed(cause: unknown): PodwrightError {
    const advice = 'check the disk, and then restart: until then, writes fail';
    const message = `sync the objects of the API server in ${this.#options.store}: ${errorMessage(cause)}; ${advice}`;
    return new PodwrightError('unavailable', message, { cause });
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
