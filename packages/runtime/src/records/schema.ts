import { type MetadataDatabase, migrate } from '@podwright/metadata';

/** Brings the tables of the sandbox and container rooms up to date. */
export function migratePodTables(database: MetadataDatabase): void {
  migrate(database, 'sandboxes', [recordTable('sandboxes')]);
  migrate(database, 'containers', [recordTable('containers')]);
}

/** The id and the unique name are columns, so that SQLite refuses what memory would. */
function recordTable(table: string): string {
  return `CREATE TABLE ${table} (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, record TEXT NOT NULL) STRICT`;
}
