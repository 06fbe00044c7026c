import { MemoryStore } from './memory-store.ts';
import type { ObjectStore, StoreOptions } from './object-store.ts';
import { backupStoreFile } from './sqlite-backup.ts';
import { storeFileError } from './sqlite-errors.ts';
import { type Durability, openStoreFile } from './sqlite-file.ts';
import { SqliteJournal, type StoreFailpoint } from './sqlite-journal.ts';

export type SqliteStoreOptions = StoreOptions & {
  /** What acknowledged writes survive. Default: `process`. */
  durability?: Durability;
  failpoint?: StoreFailpoint;
};

export type SqliteStore = ObjectStore & {
  /**
   * Writes a consistent copy to `path`, atomically and with access for root only, while the store is in use. To restore the copy, open it
   * as a store, which then uses higher revisions. Must not be called concurrently with the same path.
   */
  backup(path: string): Promise<void>;
};

/**
 * Opens a store in an SQLite file, creating the file if it does not exist. Throws `data_loss` (the file is damaged), `failed_precondition`
 * (another process has the file open, or its schema version is newer), `resource_exhausted` (the disk is full) or `unavailable` (the file
 * cannot be read or written).
 */
export function openSqliteStore(path: string, options: SqliteStoreOptions = {}): SqliteStore {
  const { durability = 'process', failpoint = () => undefined, ...others } = options;
  const database = openStoreFile(path);
  try {
    const journal = new SqliteJournal({ path, database, failpoint, durability });
    const store = new MemoryStore(others, journal);
    return Object.assign(store, { backup: (to: string) => backupStoreFile(to, { database, failpoint }) });
  } catch (error) {
    database.close();
    throw storeFileError(`read the objects of the API server in ${path}`, error);
  }
}
