import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { Checkpoints } from './checkpoints.ts';
import { FileSync } from './file-sync.ts';
import type { Journal, JournalEntry, RecordedObject } from './journal.ts';
import { damaged, isFull, storeFileError } from './sqlite-errors.ts';
import { connect, type Durability } from './sqlite-file.ts';
import { StoredObject } from './stored-object.ts';

/** Called at each named stage of a write or backup. Tests use it to kill the process at a stage. */
export type StoreFailpoint = (stage: string) => void;

export type SqliteJournalOptions = {
  path: string;
  database: DatabaseSync;
  failpoint: StoreFailpoint;
  /** What acknowledged writes survive. Default: `process`. */
  durability?: Durability;
};

type Row = { resource: string; key: string; revision: number; checksum: number; object: Uint8Array };

/** Unused pages are returned to the file system if there are more than SPARE_PAGES of them and they exceed SPARE_SHARE of the file. */
const SPARE_PAGES = 8;
const SPARE_SHARE = 1 / 4;

const PAGE_BYTES = 4096;

/** Stores objects in an SQLite file, one row each, and the highest revision that may have been assigned so far. */
export class SqliteJournal implements Journal {
  readonly reservedRevision: number;
  readonly #options: SqliteJournalOptions;
  readonly #log: FileSync;
  readonly #file: FileSync;
  readonly #checkpoints: Checkpoints;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #reserve: StatementSync;
  readonly #unusedPages: StatementSync;
  readonly #pages: StatementSync;

  constructor(options: SqliteJournalOptions) {
    const { database, path } = options;
    this.#options = options;
    this.#log = new FileSync({ path: `${path}-wal`, store: path });
    this.#file = new FileSync({ path, store: path });
    const files = { log: this.#log, file: this.#file };
    this.#checkpoints = new Checkpoints({ database, connect: () => connect(path), ...files });
    this.reservedRevision = (database.prepare('SELECT reserved FROM store').get() as { reserved: number }).reserved;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#put = database.prepare(
      `INSERT INTO objects VALUES (?, ?, ?, ?, ?) ON CONFLICT (resource, key)
       DO UPDATE SET revision = excluded.revision, checksum = excluded.checksum, object = excluded.object`,
    );
    this.#delete = database.prepare('DELETE FROM objects WHERE resource = ? AND key = ?');
    this.#reserve = database.prepare('UPDATE store SET reserved = ?');
    this.#unusedPages = database.prepare('PRAGMA freelist_count');
    this.#pages = database.prepare('PRAGMA page_count');
  }

  /** Yields all recorded objects. Throws `data_loss` at the first row with a wrong checksum. */
  *objects(): Generator<RecordedObject> {
    const { database, path } = this.#options;
    for (const row of database.prepare('SELECT * FROM objects ORDER BY resource, key').iterate()) {
      const { resource, key, revision, checksum, object } = row as Row;
      if (crc32(object) !== checksum)
        throw damaged(`read the objects of the API server in ${path}`, `the checksum of ${resource} ${key} is wrong`);
      const bytes = Buffer.from(object.buffer, object.byteOffset, object.byteLength);
      yield { resource, object: new StoredObject(key, revision, bytes) };
    }
  }

  record(entry: JournalEntry): void {
    try {
      this.#transaction(entry);
    } catch (error) {
      const { path } = this.#options;
      throw storeFileError(`write to the objects of the API server in ${path}`, error);
    }
    this.#options.failpoint('record/committed');
    this.#returnSpace();
    this.#checkpoints.written(logBytesOf(entry));
  }

  /** With durability `power`, syncs the write-ahead log to disk. With both, waits while the log is too long. */
  sync(): Promise<void> | undefined {
    return this.#options.durability === 'power' ? this.#sync() : this.#checkpoints.caughtUp();
  }

  close(): void {
    this.#checkpoints.close();
    this.#options.database.close();
    this.#log[Symbol.dispose]();
    this.#file[Symbol.dispose]();
  }

  async #sync(): Promise<void> {
    const { failpoint } = this.#options;
    failpoint('sync/begun');
    await this.#log.sync();
    failpoint('sync/ended');
    await this.#checkpoints.caughtUp();
  }

  /** If the log cannot grow because the disk is full, copies it into the file, which makes its space usable again. */
  #transaction(entry: JournalEntry): void {
    try {
      this.#tryTransaction(entry);
    } catch (error) {
      if (!isFull(error) || !this.#checkpoints.copyNow()) throw error;
      this.#tryTransaction(entry);
    }
  }

  #tryTransaction(entry: JournalEntry): void {
    const { database, failpoint } = this.#options;
    try {
      this.#begin.run();
      failpoint('record/begun');
      this.#write(entry);
      failpoint('record/written');
      this.#commit.run();
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  #write({ changes, reserve }: JournalEntry): void {
    for (const { resource, object, isDeleted } of changes) {
      const { key, revision, bytes } = object;
      if (isDeleted) this.#delete.run(resource, key);
      else this.#put.run(resource, key, revision, crc32(bytes), bytes);
    }
    if (reserve !== undefined) this.#reserve.run(reserve);
  }

  /** Returns unused pages to the file system. If this fails because the disk is full, a later write tries again. */
  #returnSpace(): void {
    const unused = count(this.#unusedPages);
    if (unused <= SPARE_PAGES || unused <= count(this.#pages) * SPARE_SHARE) return;
    try {
      this.#options.database.exec(`PRAGMA incremental_vacuum(${unused})`);
    } catch {
      return;
    }
    this.#options.failpoint('record/space-returned');
  }
}

/**
 * The approximate number of bytes that an entry adds to the log: the pages of the objects, and for each change a page of the table, of its
 * index, of the list of unused pages and of the pointer map.
 */
function logBytesOf({ changes }: JournalEntry): number {
  const pagesOf = (bytes: number) => Math.ceil(bytes / PAGE_BYTES) + 4;
  const pages = changes.reduce((sum, { object, isDeleted }) => sum + pagesOf(isDeleted ? 0 : object.bytes.length), 1);
  return pages * PAGE_BYTES;
}

const count = (pragma: StatementSync): number => Object.values(pragma.get()!)[0] as number;
