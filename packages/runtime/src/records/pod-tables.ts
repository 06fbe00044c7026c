import { type DamagedRecord, type MetadataDatabase, migrate, type NamedRecord, RecordTable } from '@podwright/metadata';
import type { z } from 'zod';
import type { ContainerRecord } from './container-record.ts';
import { containerShape } from './container-shape.ts';
import type { SandboxRecord } from './sandbox-record.ts';
import { sandboxShape } from './sandbox-shape.ts';

/** Schema version of sandbox and container records. Records without a version have the same schema. */
const VERSION = 1;

export type PodTables = { sandboxes: RecordTable<SandboxRecord>; containers: RecordTable<ContainerRecord> };

/**
 * Opens the sandbox and container tables, migrating them if necessary. A damaged row is deleted and reported to `onDamaged`; see
 * `RecordTable`.
 */
export function openPodTables(database: MetadataDatabase, onDamaged: (damaged: DamagedRecord) => void): PodTables {
  const open = <T extends NamedRecord>(table: string, noun: string, shape: z.ZodType<T>) => {
    migrate(database, table, [recordTable(table)]);
    const decode = (value: unknown) => checkShape(shape, value);
    return new RecordTable<T>(database, { table, noun, version: VERSION, decode, onDamaged });
  };
  return {
    sandboxes: open<SandboxRecord>('sandboxes', 'sandbox', sandboxShape),
    containers: open<ContainerRecord>('containers', 'container', containerShape),
  };
}

/**
 * Returns the SQL for creating a table. ID and name are separate columns so that SQLite enforces their uniqueness, like the in-memory table
 * does.
 */
function recordTable(table: string): string {
  return `CREATE TABLE ${table} (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, record TEXT NOT NULL) STRICT`;
}

/** Validates a record. Throws an error that names the first invalid field. */
function checkShape<T>(shape: z.ZodType<T>, value: unknown): T {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const [{ path, message } = { path: [], message: 'it is not a record' }] = result.error.issues;
  throw new Error(`${path.map(String).join('.')}: ${message}`);
}
