import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { makePrivateDirectory, mendMode, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { damaged, storeFileError } from './sqlite-errors.ts';

/**
 * Which failures acknowledged writes survive: a process crash (`process`) or also a power failure (`power`). With `power`, writes are
 * acknowledged once they are on disk.
 */
export type Durability = 'process' | 'power';

/** Schema version, stored in the single row of the `store` table. */
const VERSION = 1;

/**
 * The database schema. `reserved` is an upper bound of all revisions assigned so far. `checksum` is the CRC-32 of `object`, because SQLite
 * has no checksums. `objects` is not a WITHOUT ROWID table, because SQLite stores the large rows of such a table inefficiently.
 */
const SCHEMA = `
  CREATE TABLE store (version INTEGER NOT NULL, reserved INTEGER NOT NULL) STRICT;
  CREATE TABLE objects (
    resource TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, checksum INTEGER NOT NULL, object BLOB NOT NULL,
    PRIMARY KEY (resource, key)
  ) STRICT;
  INSERT INTO store VALUES (${VERSION}, 0);
`;

/** SQLite truncates the write-ahead log to this size when it starts the log from its beginning. */
const MAX_LOG_BYTES = 4 << 20;
/**
 * At this length of the log, in pages of 4 KiB, SQLite copies it on the writing thread: only if a single turn of the event loop writes that
 * much, because `Checkpoints` copies it much earlier.
 */
const MAX_LOG_PAGES = 8_192;
/** All reads are served from memory, so a small page cache is sufficient. */
const PAGE_CACHE_KIB = 512;

/**
 * Opens or creates a store's file and locks it against other processes. Objects may contain secrets, so only root can access the file and
 * its directory. Throws the errors of `storeFileError`, and `failed_precondition` for a file with a newer schema version, which is left
 * unchanged.
 */
export function openStoreFile(path: string): DatabaseSync {
  const attempt = `open the objects of the API server in ${path}`;
  let database: DatabaseSync | undefined;
  try {
    makePrivateFile(path);
    database = connect(path);
    database.exec(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
    if (isEmpty(database)) createSchema(database);
    else check(database, attempt);
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`);
    database.exec(`PRAGMA wal_autocheckpoint = ${MAX_LOG_PAGES}`);
    database.exec('PRAGMA synchronous = NORMAL'); // SQLite syncs at checkpoints, not at commits
    return database;
  } catch (error) {
    database?.close();
    throw storeFileError(attempt, error);
  }
}

/**
 * Opens a connection to a store's file. SQLite's VFS `unix-excl` lets only connections of this process open the file, and keeps what they
 * share in memory: a shared-memory file could not be created on a full disk.
 */
export function connect(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  url.searchParams.set('vfs', 'unix-excl');
  return new DatabaseSync(url);
}

/** Creates the file with access for root only. SQLite creates its other files with the same mode. */
function makePrivateFile(path: string): void {
  makePrivateDirectory(dirname(path));
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) throw new Error('it is not a regular file'); // opening a FIFO would block
  if (found === undefined) closeSync(openSync(path, 'wx', PRIVATE_FILE));
  for (const file of [path, `${path}-wal`]) mendMode(file, PRIVATE_FILE);
}

const isEmpty = (database: DatabaseSync): boolean =>
  database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;

/**
 * Creates the schema. A crash before the commit leaves an empty database. `auto_vacuum` must be set first because it is recorded in the
 * first page. Without it, pages could not be returned to the file system.
 */
function createSchema(database: DatabaseSync): void {
  database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
  database.exec(`BEGIN; ${SCHEMA} COMMIT`);
}

function check(database: DatabaseSync, attempt: string): void {
  const { version } = database.prepare('SELECT version FROM store').get() as { version: number };
  if (version > VERSION)
    throw new PodwrightError(
      'failed_precondition',
      `${attempt}: the file has version ${version}, this Podwright supports up to ${VERSION}; use the newer Podwright or another directory`,
    );
  const { quick_check: verdict } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (verdict !== 'ok') throw damaged(attempt, verdict.replaceAll('\n', ' '));
}
