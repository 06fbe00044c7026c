import { PodwrightError } from '@podwright/base';
import Database from 'better-sqlite3';

/** The one file of records: images, snapshots, sandboxes and containers. Every room has its own tables in it. */
export type MetadataDatabase = Database.Database;

/**
 * Opens the records. Write-ahead log without an fsync a commit: containers do not survive a power cut, so a start after one
 * has nothing to lose, and a crash of this process loses nothing.
 */
export function openDatabase(path: string): MetadataDatabase {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
  database.exec('CREATE TABLE IF NOT EXISTS rooms (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
  return database;
}

/**
 * Brings one room's tables up to date: `steps[i]` is the SQL that leads from version i to i+1.
 * Records of a newer version are refused (`failed_precondition`), not touched.
 */
export function migrate(database: MetadataDatabase, room: string, steps: string[]): void {
  const row = database.prepare('SELECT version FROM rooms WHERE name = ?').get(room) as { version: number } | undefined;
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
      .prepare('INSERT INTO rooms VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version')
      .run(room, steps.length);
  })();
}
