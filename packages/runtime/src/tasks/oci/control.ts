import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { LOG_FILE, wrapError } from '@podwright/base';
import { makeLogDirectory } from '../log-directory.ts';
import { BUNDLE_FILES, type TaskRecord } from './task-files.ts';

/** A task monitored by conmon, with the directory of conmon's control files. */
type Monitored = Pick<TaskRecord, 'id' | 'bundle'>;

/**
 * Creates the temporary file that conmon opens and renames to `logPath` when it reopens the log. If conmon itself could not create this
 * file, it would exit, and its container would be killed.
 */
export async function prepareMonitorLog(logPath: string): Promise<void> {
  await makeLogDirectory(logPath);
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK; // a FIFO of a pod with a hostPath must not block the open
  try {
    await (await open(`${logPath}.tmp`, flags, LOG_FILE)).close();
  } catch (error) {
    throw wrapError(`make log file ${logPath}`, error, 'failed_precondition');
  }
}

/** Makes conmon close the task's log file and reopen it by path, for example after a rotation. */
export function reopenMonitorLog(record: Monitored): void {
  writeControl(record, '2 0 0\n');
}

/** Sends conmon the new size of the task's terminal. */
export function resizeMonitorTerminal(record: Monitored, columns: number, rows: number): void {
  writeControl(record, `1 ${rows} ${columns}\n`);
}

/** Writes one line to conmon's control FIFO. conmon reads it in its event loop and sends no reply. */
function writeControl(record: Monitored, line: string): void {
  try {
    const fifo = openSync(join(record.bundle, BUNDLE_FILES.control), constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      writeSync(fifo, line);
    } finally {
      closeSync(fifo);
    }
  } catch (error) {
    throw wrapError(`write to the monitor of task ${record.id}`, error, 'failed_precondition');
  }
}
