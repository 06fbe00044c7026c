import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isErrno } from '@podwright/base';

/**
 * A file that a log was rotated to: `<log>.<time>`, or `<log>.<time>.<number>` if there was one of that second, and `.gz` behind it
 * once it is compressed. Names compare as the files' times do by `order`, which is the same for a file and its compressed form.
 */
export type RotatedLog = { path: string; order: string; isCompressed: boolean };

const SUFFIX = /^\.(\d{8}-\d{6})(?:\.(\d{1,9}))?(\.gz)?$/;
const DIGITS = 9;

/** The files that a log was rotated to, oldest first, the compressed form of one behind it; none without the directory. */
export async function rotatedLogs(logPath: string): Promise<RotatedLog[]> {
  const [directory, name] = [dirname(logPath), basename(logPath)];
  const entries = await readdir(directory).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  });
  const found = entries.flatMap((entry) => {
    const match = entry.startsWith(name) ? SUFFIX.exec(entry.slice(name.length)) : null;
    if (match === null) return [];
    const [, time, number = '', compressed] = match;
    const order = `${time}.${number.padStart(DIGITS, '0')}`;
    return [{ path: join(directory, entry), order, isCompressed: compressed !== undefined }];
  });
  return found.sort((a, b) => compare(a.order, b.order) || Number(a.isCompressed) - Number(b.isCompressed));
}

/**
 * A path for the next file, which is the newest of all: its time is now, or that of the newest one if the clock is not beyond that,
 * with the next number.
 */
export function nextRotatedPath(logPath: string, newest: RotatedLog | undefined, now: Date): string {
  const time = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const [newestTime = '', number = '0'] = newest?.order.split('.') ?? [];
  return newestTime < time ? `${logPath}.${time}` : `${logPath}.${newestTime}.${Number(number) + 1}`;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
