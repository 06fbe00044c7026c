import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isErrno } from '@podwright/base';

/**
 * A rotated log file: `<log>.<time>`, or `<log>.<time>.<number>` if that second already had a rotated file, with the suffix `.gz` once it
 * is compressed. `order` sorts files by age; it is the same for a file and its compressed form.
 */
export type RotatedLog = { path: string; order: string; isCompressed: boolean };

const SUFFIX = /^\.(\d{8}-\d{6})(?:\.(\d{1,9}))?(\.gz)?$/;
const DIGITS = 9;

/** The rotated files of a log, oldest first; the compressed form of a file follows it. Empty if the directory is missing. */
export async function rotatedLogs(logPath: string): Promise<RotatedLog[]> {
  const [directory, name] = [dirname(logPath), basename(logPath)];
  const entries = await readdir(directory).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return [];
    throw error;
  });
  const found = entries.flatMap((entry) => {
    const match = entry.startsWith(name) ? SUFFIX.exec(entry.slice(name.length)) : null;
    if (match === null) return [];
    const [, time = '', number = '', compressed] = match;
    return [{ path: join(directory, entry), order: orderOf(time, number), isCompressed: compressed !== undefined }];
  });
  return found.sort((a, b) => compare(a.order, b.order) || Number(a.isCompressed) - Number(b.isCompressed));
}

/**
 * The name of the next rotated file, after the one with the order `newest` ('' for none): with the current time, or if the clock is not
 * later than the newest file, with that file's time and the next number.
 */
export function nextRotated(logPath: string, newest: string, now: Date): Pick<RotatedLog, 'path' | 'order'> {
  const time = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const [newestTime = '', number = '0'] = newest.split('.');
  if (newestTime < time) return { path: `${logPath}.${time}`, order: orderOf(time, '0') };
  const next = String(Number(number) + 1);
  return { path: `${logPath}.${newestTime}.${next}`, order: orderOf(newestTime, next) };
}

const orderOf = (time: string, number: string) => `${time}.${number.padStart(DIGITS, '0')}`;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
