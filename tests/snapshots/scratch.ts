import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../packages/metadata/src/database.ts';
import type { MetadataDatabase } from '../../packages/metadata/src/metadata-database.ts';

/** Creates a directory for one test, under /var/tmp because overlayfs does not work on tmpfs on some hosts. */
export function makeScratch(): string {
  return mkdtempSync(join(process.env.PODWRIGHT_TEST_DIR ?? '/var/tmp', 'podwright-snapshots-'));
}

const opened = new Map<string, MetadataDatabase>();

/** Opens the records in this directory. First closes an earlier instance, as the end of its process would. */
export function openRecords(root: string): MetadataDatabase {
  const path = join(root, 'records.db');
  opened.get(path)?.close();
  const database = openDatabase(path);
  opened.set(path, database);
  return database;
}
