import { errorCode, errorMessage, type Logger, PodwrightError, silentLogger, wrapError } from '@podwright/base';
import { ChangeJournal } from './change-journal.ts';
import { isDamage, openFile, readIntoMemory } from './database-file.ts';
import { MetadataDatabase } from './metadata-database.ts';

export type OpenDatabaseOptions = {
  /**
   * Path of a file on another file system, for changes that must be recorded even while the disk with the records is full. By default, such
   * changes are only kept in memory.
   */
  journal?: string;
  logger?: Logger;
};

/** Opens the record database. Throws `data_loss` if the file is damaged, and leaves it unchanged. A full disk is not an error. */
export function openDatabase(path: string, options: OpenDatabaseOptions = {}): MetadataDatabase {
  try {
    const database = new MetadataDatabase({
      name: path,
      open: () => openFile(path),
      read: () => readIntoMemory(path),
      journal: new ChangeJournal(options.journal),
      logger: options.logger ?? silentLogger,
    });
    openVersions(database);
    return database;
  } catch (error) {
    throw isDamage(error) ? damaged(path, error) : wrapError(`open the records ${path}`, error);
  }
}

/**
 * Creates the table of schema versions, or renames it from its former name, `rooms`. An earlier version of Podwright fails on newer tables,
 * but leaves behind an empty `rooms` table when it starts; this table is dropped.
 */
function openVersions(database: MetadataDatabase): void {
  const exists = (table: string) =>
    database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== undefined;
  const sql = exists('schema_versions')
    ? exists('rooms') && 'DROP TABLE rooms'
    : exists('rooms')
      ? 'ALTER TABLE rooms RENAME TO schema_versions'
      : 'CREATE TABLE schema_versions (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT';
  if (sql) database.writeEvenIfFull(() => database.exec(sql));
}

/** Throws unless records can be written. A full disk is tolerated, because pods can still be removed. */
export function checkWritable(database: MetadataDatabase): void {
  try {
    database.exec('UPDATE schema_versions SET version = version');
  } catch (error) {
    if (errorCode(error) !== 'resource_exhausted') throw wrapError(`write to the records ${database.name}`, error);
  }
}

function damaged(path: string, cause: unknown): PodwrightError {
  const message = `open the records ${path}: the file is damaged: ${errorMessage(cause)}`;
  const hint = `restore a copy of it, or move ${path}* away: then pods are started and images pulled again`;
  return new PodwrightError('data_loss', `${message}; ${hint}`, { cause });
}

/**
 * Migrates the tables of one component (`room`) to the latest schema version: `steps[i]` is the SQL that upgrades version i to i+1. If the
 * tables have a newer version, throws `failed_precondition` and leaves them unchanged.
 */
export function migrate(database: MetadataDatabase, room: string, steps: string[]): void {
  const row = database.prepare('SELECT version FROM schema_versions WHERE name = ?').get(room) as
    | { version: number }
    | undefined;
  const version = row?.version ?? 0;
  if (version > steps.length) {
    throw new PodwrightError(
      'failed_precondition',
      `open ${database.name}: the records of ${room} have version ${version}, this Podwright supports up to ${steps.length}; use the newer Podwright or another root directory`,
    );
  }
  if (version === steps.length) return;
  database.writeEvenIfFull(() => {
    for (const step of steps.slice(version)) database.exec(step);
    database
      .prepare('INSERT INTO schema_versions VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version')
      .run(room, steps.length);
  });
}
