import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../packages/metadata/src/database.ts';
import type { MetadataDatabase } from '../../packages/metadata/src/metadata-database.ts';

/** A new directory for one test. Not below /tmp of some hosts only: overlayfs needs a real file system there. */
export function makeScratch(): string {
  return mkdtempSync(join(process.env.PODWRIGHT_TEST_DIR ?? '/var/tmp', 'podwright-snapshots-'));
}

const opened = new Map<string, MetadataDatabase>();

/** The records in this directory; those that were opened before are closed, as at the end of their process. */
export function openRecords(root: string): MetadataDatabase {
  const path = join(root, 'records.db');
  opened.get(path)?.close();
  const database = openDatabase(path);
  opened.set(path, database);
  return database;
}
