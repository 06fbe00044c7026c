import { join } from 'node:path';
import type { ContainerRecord } from './containers/container-record.ts';
import { openDatabase } from './metadata/database.ts';
import { RecordTable } from './metadata/record-table.ts';
import { migratePodTables } from './metadata/schema.ts';
import type { RuntimeRecords } from './runtime-parts.ts';
import type { SandboxRecord } from './sandbox/sandbox-record.ts';

/** Opens the records below `root`. Records of a newer version are a `failed_precondition`. */
export function openRecords(root: string): RuntimeRecords {
  const database = openDatabase(join(root, 'metadata.db'));
  try {
    migratePodTables(database);
    return {
      database,
      sandboxes: new RecordTable<SandboxRecord>(database, 'sandboxes', 'sandbox'),
      containers: new RecordTable<ContainerRecord>(database, 'containers', 'container'),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
