import { closeSync, openSync } from 'node:fs';
import { errorCode, errorMessage, isErrno, mendMode, PodwrightError, PRIVATE_FILE, wrapError } from '@podwright/base';
import Database from 'better-sqlite3';
import { keepReserve } from './disk-reserve.ts';

/** SQLite's name for a database without a file. */
const IN_MEMORY = ':memory:';

/** The one file of records: images, snapshots, sandboxes and containers. Every room has its own tables in it. */
export type MetadataDatabase = Database.Database;

/**
 * Opens the records. Write-ahead log without an fsync a commit: containers do not survive a power cut, so a start after one
 * has nothing to lose, and a crash of this process loses nothing. A damaged file is refused (`data_loss`), not touched.
 */
export function openDatabase(path: string): MetadataDatabase {
  if (path !== IN_MEMORY) closeRecordFiles(path);
  const database = new Database(path);
  try {
    const [verdict] = database.pragma('quick_check(1)') as { quick_check: string }[];
    if (verdict?.quick_check !== 'ok') throw new PodwrightError('data_loss', verdict?.quick_check ?? 'no answer');
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    openVersions(database);
  } catch (error) {
    database.close();
    throw isDamage(error) ? damaged(path, error) : wrapError(`open the records ${path}`, error);
  }
  keepReserve(database);
  return database;
}

/**
 * The versions of the rooms' tables. The table was called `rooms` once. A start of such an earlier Podwright on tables that are
 * newer fails, and leaves an empty one of that name behind.
 */
function openVersions(database: MetadataDatabase): void {
  const isThere = (table: string) =>
    database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== undefined;
  if (isThere('rooms'))
    database.exec(isThere('schema_versions') ? 'DROP TABLE rooms' : 'ALTER TABLE rooms RENAME TO schema_versions');
  database.exec('CREATE TABLE IF NOT EXISTS schema_versions (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
}

/** Throws unless records can be written now. A full disk is no error: pods can still be taken down there, see `withReserve`. */
export function checkWritable(database: MetadataDatabase): void {
  try {
    database.exec('UPDATE schema_versions SET version = version');
  } catch (error) {
    if (!isErrno(error, 'SQLITE_FULL')) throw wrapError(`write to the records ${database.name}`, error);
  }
}

/** SQLite makes the files beside the database with its mode; an earlier version left all of them readable. */
function closeRecordFiles(path: string): void {
  closeSync(openSync(path, 'a', PRIVATE_FILE));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) mendMode(file, PRIVATE_FILE);
}

function isDamage(error: unknown): boolean {
  return errorCode(error) === 'data_loss' || DAMAGE.some((code) => isErrno(error, code));
}

const DAMAGE = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];

function damaged(path: string, cause: unknown): PodwrightError {
  const message = `open the records ${path}: the file is damaged: ${errorMessage(cause)}`;
  const hint = `put a copy of it back, or move ${path}* away: then pods are started and images pulled anew`;
  return new PodwrightError('data_loss', `${message}; ${hint}`, { cause });
}

/**
 * Brings one room's tables up to date: `steps[i]` is the SQL that leads from version i to i+1.
 * Records of a newer version are refused (`failed_precondition`), not touched.
 */
export function migrate(database: MetadataDatabase, room: string, steps: string[]): void {
  const row = database.prepare('SELECT version FROM schema_versions WHERE name = ?').get(room) as
    | { version: number }
    | undefined;
  const version = row?.version ?? 0;
  if (version > steps.length) {
    throw new PodwrightError(
      'failed_precondition',
      `open ${database.name}: the records of ${room} have version ${version}, this Podwright knows up to ${steps.length}; use the newer Podwright or another root directory`,
    );
  }
  if (version === steps.length) return;
  database.transaction(() => {
    for (const step of steps.slice(version)) database.exec(step);
    database
      .prepare('INSERT INTO schema_versions VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version')
      .run(room, steps.length);
  })();
}
