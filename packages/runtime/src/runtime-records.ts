import { join } from 'node:path';
import type { Logger } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import { openPodTables } from './records/pod-tables.ts';
import type { RuntimeRecords } from './runtime-parts.ts';

/**
 * Opens the records under `root`. Throws `failed_precondition` if they were written by a newer version of Podwright. A damaged record is
 * logged and dropped; `removeLeftovers` then removes its sandbox or container at startup, like any other that has no record. Other pods
 * keep running, and the kubelet recreates the lost pod.
 */
export function openRecords({ root, state, logger }: { root: string; state: string; logger: Logger }): RuntimeRecords {
  const database = openDatabase(join(root, 'metadata.db'), { journal: join(state, 'records.journal'), logger });
  try {
    const tables = openPodTables(database, (damaged) =>
      logger.error(damaged, 'a record is damaged: its sandbox or container will be removed'),
    );
    return { database, ...tables };
  } catch (error) {
    database.close();
    throw error;
  }
}
