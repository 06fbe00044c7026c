import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Journal, JournalEntry, RecordedObject } from './journal.ts';
import { LogSync } from './log-sync.ts';
import { damaged, storeFileError } from './sqlite-errors.ts';
import type { Durability } from './sqlite-file.ts';
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

/** Stores objects in an SQLite file, one row each, and the highest revision that may have been assigned so far. */
export class SqliteJournal implements Journal {
  readonly reservedRevision: number;
  readonly sync: Journal['sync'];
  readonly #options: SqliteJournalOptions;
  readonly #log: LogSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #reserve: StatementSync;
  readonly #unusedPages: StatementSync;
  readonly #pages: StatementSync;

  constructor(options: SqliteJournalOptions) {
    const { database, path, durability } = options;
    this.#options = options;
    this.#log = new LogSync(path);
    if (durability === 'power') this.sync = () => this.#sync();
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
    const { database, failpoint, path } = this.#options;
    try {
      this.#begin.run();
      failpoint('record/begun');
      this.#write(entry);
      failpoint('record/written');
      this.#commit.run();
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw storeFileError(`write to the objects of the API server in ${path}`, error);
    }
    failpoint('record/committed');
    this.#returnSpace();
  }

  close(): void {
    this.#options.database.close();
    this.#log[Symbol.dispose]();
  }

  /** Syncs the write-ahead log to disk. Only called with durability `power`. */
  async #sync(): Promise<void> {
    const { failpoint } = this.#options;
    failpoint('sync/begun');
    await this.#log.sync();
    failpoint('sync/ended');
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

const count = (pragma: StatementSync): number => Object.values(pragma.get()!)[0] as number;
