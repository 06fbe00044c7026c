import { readdir, stat } from 'node:fs/promises';
import type { TaskRecord } from './task-files.ts';
import { findMonitor } from './task-state.ts';

/**
 * Whether the monitor's open log file is still the one at `logPath`. Reopening would then make conmon replace it with an empty
 * file, and its content would be lost.
 */
export async function isLogInPlace(record: TaskRecord, logPath: string): Promise<boolean> {
  const there = await stat(logPath).catch(() => undefined);
  if (there === undefined) return false;
  const monitor = await findMonitor(record);
  const descriptors = await readdir(`/proc/${monitor}/fd`).catch(() => []);
  const open = await Promise.all(descriptors.map((name) => stat(`/proc/${monitor}/fd/${name}`).catch(() => undefined)));
  return open.some((file) => file?.ino === there.ino && file.dev === there.dev);
}
