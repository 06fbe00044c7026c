import type { DatabaseSync } from 'node:sqlite';
import type { FileSync } from './file-sync.ts';

export type CheckpointOptions = {
  /** The connection that writes. Its `synchronous` is NORMAL. */
  database: DatabaseSync;
  /** Opens another connection to the same file, in the same process. */
  connect: () => DatabaseSync;
  /** The write-ahead log. */
  log: FileSync;
  /** The database file. */
  file: FileSync;
};

/** A checkpoint begins once this many bytes were written since the last one began. */
const EVERY_BYTES = 4 << 20;
/** While the log is longer than this, writes are acknowledged only after a checkpoint has copied all of it. */
const MAX_BYTES = 8 << 20;
/** Number of checkpoints in a row, for writers that do not wait for acknowledgements. */
const MAX_ROUNDS = 5;

/**
 * Copies the write-ahead log of a store into its file without waiting for the disk on the event loop. SQLite's own checkpoint syncs both on
 * the thread that writes, which takes seconds on a slow disk.
 *
 * The order of a checkpoint is SQLite's (https://www.sqlite.org/wal.html, "Checkpointing"): sync the log, copy its pages, sync the file, and
 * only then overwrite the log. Both syncs run in a thread (`FileSync`), while the event loop goes on. A read transaction of a second
 * connection, the pin, is begun before the first sync and ended after the last one: SQLite copies no page that was written after a reader
 * began, and starts the log from its beginning only without readers. Therefore only synced pages are copied, and no page is overwritten
 * before its copy is synced, although the copying itself runs with `synchronous = OFF`.
 */
export class Checkpoints {
  readonly #options: CheckpointOptions;
  #pin: DatabaseSync | undefined;
  /** Bytes written since the last checkpoint began, and since the log was last empty. */
  #newBytes = 0;
  #logBytes = 0;
  #running: Promise<void> | undefined;
  /** Whether pages were copied and the file was not synced yet. */
  #isUnsynced = false;
  #isClosed = false;
  #failure: unknown;

  constructor(options: CheckpointOptions) {
    this.#options = options;
  }

  /** Must be called after each commit, with the approximate number of bytes that it added to the log. */
  written(bytes: number): void {
    this.#newBytes += bytes;
    this.#logBytes += bytes;
    if (this.#running !== undefined || this.#newBytes < EVERY_BYTES || this.#failure !== undefined) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /**
   * What writes must wait for before they are acknowledged, so that the log stays bounded: undefined except while the log is too long.
   * Rejects after a failed sync.
   */
  caughtUp(): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return this.#logBytes > MAX_BYTES ? this.#running : undefined;
  }

  /**
   * Copies the whole log on the calling thread, with SQLite's own syncs. Returns whether SQLite could; it cannot while a checkpoint is
   * running.
   */
  copyNow(): boolean {
    if (this.#running !== undefined || this.#failure !== undefined) return false;
    this.#options.database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    this.#newBytes = 0;
    this.#logBytes = 0;
    return true;
  }

  /** Must be called before the database is closed. */
  close(): void {
    this.#isClosed = true;
    // SQLite removes the log when the database is closed, and does not sync pages that it has copied before
    if (this.#isUnsynced) this.#options.file.syncNow();
    this.#pin?.close();
    this.#pin = undefined;
  }

  async #run(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS && !this.#isClosed; round++) {
      await this.#checkpoint();
      if (this.#logBytes <= MAX_BYTES || this.#failure !== undefined) return;
    }
  }

  async #checkpoint(): Promise<void> {
    const { log, file } = this.#options;
    this.#newBytes = 0;
    if (!this.#pinLog()) return;
    try {
      await log.sync();
      const isCopied = !this.#isClosed && this.#copy();
      if (isCopied) await file.sync();
      this.#isUnsynced = false;
      // the next write starts the log from its beginning
      if (isCopied && this.#newBytes === 0) this.#logBytes = 0;
    } catch (error) {
      this.#failure = error;
      return; // the pin stays, so that the copied pages are never overwritten in the log
    }
    this.#pin?.exec('COMMIT');
  }

  /** Begins the read transaction. Returns whether SQLite could; if not, a later write tries again. */
  #pinLog(): boolean {
    try {
      this.#pin ??= this.#options.connect();
      this.#pin.exec('BEGIN; SELECT version FROM store');
      return true;
    } catch {
      return false;
    }
  }

  /** Copies the pages that were in the log when the pin began. Returns whether SQLite could; if not, the log keeps them. */
  #copy(): boolean {
    const { database } = this.#options;
    this.#isUnsynced = true;
    try {
      database.exec('PRAGMA synchronous = OFF; PRAGMA wal_checkpoint(PASSIVE)');
      return true;
    } catch {
      return false; // for example, the disk is full
    } finally {
      database.exec('PRAGMA synchronous = NORMAL');
    }
  }
}
