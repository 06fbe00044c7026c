import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { PRIVATE_FILE } from '@podwright/base';
import { removeUnfinished, replaceFile, syncDirectory } from '@podwright/host';
import { storeFileError } from './sqlite-errors.ts';
import type { SqliteJournalOptions } from './sqlite-journal.ts';

/**
 * How far a backup raises the upper bound of assigned revisions (`reserved`) in the copy. A restored store must not reuse revisions
 * assigned after the backup, or clients would mistake old objects for newer ones. etcd's documentation recommends the same value for
 * `etcdutl snapshot restore --bump-revision`.
 */
const REVISION_BUMP = 1_000_000_000;

/**
 * Writes a consistent copy of a store's file to `path`, atomically and durably, while the store is in use. To restore the copy, open it as
 * a store. Must not be called concurrently with the same path.
 */
export async function backupStoreFile(
  path: string,
  { database, failpoint }: Omit<SqliteJournalOptions, 'path'>,
): Promise<void> {
  try {
    await removeUnfinished(path);
    await replaceFile(path, async (temporary) => {
      closeSync(openSync(temporary, 'wx', PRIVATE_FILE));
      await backup(database, temporary);
      failpoint('backup/copied');
      raiseRevision(temporary);
      failpoint('backup/complete');
    });
    await syncDirectory(dirname(path));
  } catch (error) {
    throw storeFileError(`back up the objects of the API server to ${path}`, error);
  }
}

/** Raises the revision in a copied file by `REVISION_BUMP`. Also syncs the file and disables its write-ahead log. */
function raiseRevision(path: string): void {
  using database = new DatabaseSync(path);
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL');
  database.exec(`UPDATE store SET reserved = reserved + ${REVISION_BUMP}`);
}
