import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { errorCode, isErrno, mendMode, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import Database from 'better-sqlite3';

/** SQLite's name for a database without a file. */
const IN_MEMORY = ':memory:';

/**
 * Opens a database for writing. Write-ahead log without an fsync a commit: containers do not survive a power cut, so a start
 * after one has nothing to lose, and a crash of this process loses nothing. The database is locked for this process alone: then
 * SQLite needs no shared memory, which is a file that a full disk has no room for.
 */
export function openFile(path: string): Database.Database {
  if (path !== IN_MEMORY) closeRecordFiles(path);
  const database = new Database(path);
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    const [verdict] = database.pragma('quick_check(1)') as { quick_check: string }[];
    if (verdict?.quick_check !== 'ok') throw new PodwrightError('data_loss', verdict?.quick_check ?? 'no answer');
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The database in memory, for a disk without room for the log that SQLite makes next to an open one. */
export function readIntoMemory(path: string): Database.Database {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0)
    throw new PodwrightError('resource_exhausted', `${path}-wal cannot be opened; free some space of the disk`);
  return copyInMemory(readFileSync(path));
}

/** A database in memory with this content. A log of its own, which the format of the file asks for, is not possible there. */
export function copyInMemory(content: Buffer): Database.Database {
  const LEGACY_FORMAT = 1; // https://www.sqlite.org/fileformat.html, 1.3.3
  if (content.length > 20) content.fill(LEGACY_FORMAT, 18, 20);
  const database = new Database(content.length === 0 ? IN_MEMORY : content);
  database.pragma('foreign_keys = ON');
  return database;
}

/** Whether SQLite could not write for the sake of the disk: it is full, over a quota, read-only, or fails. */
export function isRefusedWrite(error: unknown): boolean {
  if (errorCode(error) === 'resource_exhausted') return true;
  const code = error instanceof Error ? String((error as NodeJS.ErrnoException).code) : '';
  return /^SQLITE_(IOERR|READONLY|CANTOPEN)/.test(code);
}

/** Whether a statement does not fit the tables, or its values do not. */
export function isMisfit(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return true; // better-sqlite3, of values
  const code = error instanceof Error ? String((error as NodeJS.ErrnoException).code) : '';
  return /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE)/.test(code);
}

export function isDamage(error: unknown): boolean {
  return errorCode(error) === 'data_loss' || DAMAGE.some((code) => isErrno(error, code));
}

const DAMAGE = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];

/**
 * SQLite gives its other files the mode of the database. Earlier versions of Podwright made them readable to all, and kept a reserve
 * file, which is removed.
 */
function closeRecordFiles(path: string): void {
  closeSync(openSync(path, 'a', PRIVATE_FILE));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) mendMode(file, PRIVATE_FILE);
  rmSync(`${path}-reserve`, { force: true });
}
