import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { errorCode, isErrno, mendMode, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import Database from 'better-sqlite3';

/** SQLite's name for an in-memory database. */
const IN_MEMORY = ':memory:';

/**
 * Opens a database for writing, with a write-ahead log but without an fsync per commit. A crash of this process loses nothing. A power
 * failure may lose records, but it also kills the containers they describe. The database is locked exclusively, because SQLite then needs
 * no shared-memory file, which it could not create on a full disk.
 */
export function openFile(path: string): Database.Database {
  if (path !== IN_MEMORY) restrictRecordFiles(path);
  const database = new Database(path);
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    const [verdict] = database.pragma('quick_check(1)') as { quick_check: string }[];
    if (verdict?.quick_check !== 'ok')
      throw new PodwrightError('data_loss', verdict?.quick_check ?? 'no result of quick_check');
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Reads the database into memory. Used when the disk has no space for the write-ahead log that SQLite creates when it opens a database. */
export function readIntoMemory(path: string): Database.Database {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0)
    throw new PodwrightError('resource_exhausted', `${path}-wal cannot be opened; free some disk space`);
  return copyInMemory(readFileSync(path));
}

/**
 * Opens an in-memory database with this content. The format version in the file header requires a write-ahead log, which an in-memory
 * database cannot have, so the version is changed.
 */
export function copyInMemory(content: Buffer): Database.Database {
  const LEGACY_FORMAT = 1; // https://www.sqlite.org/fileformat.html, 1.3.3
  if (content.length > 20) content.fill(LEGACY_FORMAT, 18, 20);
  const database = new Database(content.length === 0 ? IN_MEMORY : content);
  database.pragma('foreign_keys = ON');
  return database;
}

/** Whether SQLite could not write, because the disk is full, over quota, read-only or failing. */
export function isRefusedWrite(error: unknown): boolean {
  if (errorCode(error) === 'resource_exhausted') return true;
  const code = error instanceof Error ? String((error as NodeJS.ErrnoException).code) : '';
  return /^SQLITE_(IOERR|READONLY|CANTOPEN)/.test(code);
}

/** Whether a statement or its bound values do not match the database schema. */
export function isMisfit(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return true; // better-sqlite3, for wrong values
  const code = error instanceof Error ? String((error as NodeJS.ErrnoException).code) : '';
  return /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE)/.test(code);
}

export function isDamage(error: unknown): boolean {
  return errorCode(error) === 'data_loss' || DAMAGE.some((code) => isErrno(error, code));
}

const DAMAGE = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];

/**
 * Makes the database files readable only by root. Files that SQLite creates later get the mode of the database file. Earlier versions of
 * Podwright made the files world-readable and kept a reserve file, which is removed here.
 */
function restrictRecordFiles(path: string): void {
  // check this first, because opening a FIFO would block
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new PodwrightError('data_loss', 'it is not a regular file');
  closeSync(openSync(path, 'a', PRIVATE_FILE));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) mendMode(file, PRIVATE_FILE);
  rmSync(`${path}-reserve`, { force: true });
}
