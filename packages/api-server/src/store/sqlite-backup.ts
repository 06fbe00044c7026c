import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { PRIVATE_FILE } from '@podwright/base';
import { removeUnfinished, syncDirectory } from '@podwright/host';
import { storeFileError } from './sqlite-errors.ts';
import type { SqliteJournalOptions } from './sqlite-journal.ts';

/**
 * Added to the reserved revision of a backup: a restored store must not repeat revisions that were given after the backup, or clients
 * would take old objects for newer ones. etcd's documentation recommends the same number for `etcdutl snapshot restore --bump-revision`.
 */
const REVISION_BUMP = 1_000_000_000;

/**
 * Writes a consistent copy of the file of a store to `path`, atomically and durably, while the store is used. Opening the copy restores
 * it. Two backups to the same path must not run at once.
 */
export async function backupStoreFile(
  path: string,
  { database, failpoint }: Omit<SqliteJournalOptions, 'path'>,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await removeUnfinished(path);
    closeSync(openSync(temporary, 'wx', PRIVATE_FILE));
    await backup(database, temporary);
    failpoint('backup/copied');
    raiseRevision(temporary);
    failpoint('backup/complete');
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw storeFileError(`back up the objects of the API server to ${path}`, error);
  }
}

/** Also syncs the file, and makes it one that needs no write-ahead log. */
function raiseRevision(path: string): void {
  using database = new DatabaseSync(path);
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL');
  database.exec(`UPDATE store SET reserved = reserved + ${REVISION_BUMP}`);
}
