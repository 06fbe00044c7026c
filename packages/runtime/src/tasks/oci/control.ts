import { constants, open } from 'node:fs/promises';
import { join } from 'node:path';
import { wrapError } from '@podwright/base';
import { BUNDLE_FILES, type TaskRecord } from './task-files.ts';

/** What conmon watches, and the directory of its control files. */
type Monitored = Pick<TaskRecord, 'id' | 'bundle'>;

/** Makes conmon close the task's log file and open its path anew, as after a rotation. */
export async function reopenMonitorLog(record: Monitored): Promise<void> {
  await writeControl(record, '2 0 0\n');
}

/** Sends conmon the size of the task's terminal. */
export async function resizeMonitorTerminal(record: Monitored, columns: number, rows: number): Promise<void> {
  await writeControl(record, `1 ${rows} ${columns}\n`);
}

/** Writes one line into conmon's control FIFO; conmon reads it at its next turn and answers nothing. */
async function writeControl(record: Monitored, line: string): Promise<void> {
  try {
    const fifo = await open(join(record.bundle, BUNDLE_FILES.control), constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      await fifo.write(line);
    } finally {
      await fifo.close();
    }
  } catch (error) {
    throw wrapError(`write to the monitor of task ${record.id}`, error, 'failed_precondition');
  }
}
