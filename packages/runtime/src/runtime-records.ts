import { join } from 'node:path';
import type { Logger } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import { openPodTables } from './records/pod-tables.ts';
import type { RuntimeRecords } from './runtime-parts.ts';

/**
 * Opens the records below `root`. Those of a newer version are a `failed_precondition`. A damaged one is logged and dropped,
 * and the start then removes what it stood for, as it removes everything that no record knows: nothing of it is believed,
 * nothing leaks, and the other pods go on. The kubelet makes the pod anew.
 */
export function openRecords({ root, state, logger }: { root: string; state: string; logger: Logger }): RuntimeRecords {
  const database = openDatabase(join(root, 'metadata.db'), { journal: join(state, 'records.journal'), logger });
  try {
    const tables = openPodTables(database, (damaged) =>
      logger.error(damaged, 'a record is damaged: what it stands for is removed'),
    );
    return { database, ...tables };
  } catch (error) {
    database.close();
    throw error;
  }
}
