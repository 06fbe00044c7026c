import { join } from 'node:path';
import { openDatabase, RecordTable } from '@podwright/metadata';
import type { ContainerRecord } from './records/container-record.ts';
import type { SandboxRecord } from './records/sandbox-record.ts';
import { migratePodTables } from './records/schema.ts';
import type { RuntimeRecords } from './runtime-parts.ts';

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
