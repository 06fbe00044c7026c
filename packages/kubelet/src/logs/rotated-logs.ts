import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isErrno } from '@podwright/base';

/**
 * A rotated log, named `<log>.<time>`, or `<log>.<time>.<number>` if there already is one from that second; compressed logs have the suffix
 * `.gz`. `order` sorts rotated logs by age, and is the same for a log and its compressed form.
 */
export type RotatedLog = { path: string; order: string; isCompressed: boolean };

const SUFFIX = /^\.(\d{8}-\d{6})(?:\.(\d{1,9}))?(\.gz)?$/;
const DIGITS = 9;

/** Lists a log's rotated files, oldest first; a file comes before its compressed form. Empty if the directory does not exist. */
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
 * Returns the name for the next rotated log, after the one with order `newest` ('' for none). It contains the current time or, if that is
 * not later than the newest log's time, the newest log's time and the next number.
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
