import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LOG_DIRECTORY, wrapError } from '@podwright/base';

/** Creates the directory of a container's log if it is missing, because log cleanup programs might have removed it. */
export async function makeLogDirectory(logPath: string): Promise<void> {
  try {
    await mkdir(dirname(logPath), { recursive: true, mode: LOG_DIRECTORY });
  } catch (error) {
    throw wrapError(`make the directory of log ${logPath}`, error, 'failed_precondition');
  }
}
