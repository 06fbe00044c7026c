import { readdir, stat } from 'node:fs/promises';
import type { TaskRecord } from './task-files.ts';
import { findMonitor } from './task-state.ts';

/**
 * Whether the file that the monitor writes the log to is still where the log belongs. Asked to reopen it then, conmon would
 * put an empty file in its place, and what was in it would be lost.
 */
export async function isLogInPlace(record: TaskRecord, logPath: string): Promise<boolean> {
  const there = await stat(logPath).catch(() => undefined);
  if (there === undefined) return false;
  const monitor = await findMonitor(record);
  const descriptors = await readdir(`/proc/${monitor}/fd`).catch(() => []);
  const open = await Promise.all(descriptors.map((name) => stat(`/proc/${monitor}/fd/${name}`).catch(() => undefined)));
  return open.some((file) => file?.ino === there.ino && file.dev === there.dev);
}
