import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateDirectory, mendMode, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { damaged, storeFileError } from './sqlite-errors.ts';

/** What an answered write survives: a crash of the process, or also a power cut, for which each write waits until it is on the disk. */
export type Durability = 'process' | 'power';

/** The version of the schema, in the file's only row of `store`. */
const VERSION = 1;

/**
 * `reserved`: no revision above it has been given. `checksum`: CRC-32 of `object`, because SQLite has none. `objects` has row ids, as large
 * rows in a table without them would fill its pages badly.
 */
const SCHEMA = `
  CREATE TABLE store (version INTEGER NOT NULL, reserved INTEGER NOT NULL) STRICT;
  CREATE TABLE objects (
    resource TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, checksum INTEGER NOT NULL, object BLOB NOT NULL,
    PRIMARY KEY (resource, key)
  ) STRICT;
  INSERT INTO store VALUES (${VERSION}, 0);
`;

/** The write-ahead log is truncated to this size after a checkpoint, which SQLite makes after 1,000 pages of 4 KiB. */
const MAX_LOG_BYTES = 4 << 20;
/** All reads are from memory, so SQLite needs few cached pages. */
const PAGE_CACHE_KIB = 512;

/**
 * Opens or creates the file of a store, locked against other processes. Its objects may be secret, so the file and its directory are for
 * root only. Throws errors of `storeFileError`, and `failed_precondition` for a file of a newer version, which is not changed.
 */
export function openStoreFile(path: string, durability: Durability): DatabaseSync {
  const attempt = `open the objects of the API server in ${path}`;
  let database: DatabaseSync | undefined;
  try {
    makePrivateFile(path);
    database = new DatabaseSync(path);
    // without other processes SQLite needs no shared-memory file, which could not be created on a full disk
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
    if (isEmpty(database)) createSchema(database);
    else check(database, attempt);
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`);
    database.exec(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
    return database;
  } catch (error) {
    database?.close();
    throw storeFileError(attempt, error);
  }
}

/** SQLite creates its further files with the mode of the database. */
function makePrivateFile(path: string): void {
  makePrivateDirectory(dirname(path));
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) throw new Error('it is not a regular file'); // opening a FIFO would block
  if (found === undefined) closeSync(openSync(path, 'wx', PRIVATE_FILE));
  for (const file of [path, `${path}-wal`]) mendMode(file, PRIVATE_FILE);
}

const isEmpty = (database: DatabaseSync): boolean =>
  database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;

/** A crash before the commit leaves an empty database. Pages can be given back to the file system only if the first page says so. */
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
