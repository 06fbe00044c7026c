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
 * The next file that the log is rotated to, behind the one with the order `newest`, '' for none: its time is now, or that of the newest
 * one if the clock is not beyond that, with the next number.
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
