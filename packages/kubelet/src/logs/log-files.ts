/** Iterates over a container's log files in order: the rotated logs first, then the current file. */
import { closeSync, lstatSync } from 'node:fs';
import { CompressedLog } from './compressed-log.ts';
import { findTail } from './log-tail.ts';
import type { EntryQuery } from './log-text.ts';
import { type LogFile, type OpenedFile, openRegular, PlainLog, type PlainLogInput } from './open-log.ts';
import { type RotatedLog, rotatedLogs } from './rotated-logs.ts';

/** Enough bytes to identify a log file by its first entry, which has a timestamp with nanosecond precision. */
const HEAD_BYTES = 256;

/**
 * A position in the sequence of log files: a rotated log with the given `order`, or the current file, which comes after all rotated logs up
 * to `order`.
 */
type LogPosition = { order: string; current?: PlainLog };

/** An open log file and its position. `isAfterGap`: earlier files might have been removed before they could be read. */
export type PositionedLog = {
  log: LogFile;
  position: LogPosition;
  isAfterGap: boolean;
  /** Whether the file is complete because a newer one exists. */
  isComplete(): boolean;
};

/** The log files to read first: the rotated logs, oldest first (`undefined` if removed), and the current file if it exists. */
export type LogStart = {
  rotated: AsyncGenerator<LogFile | undefined>;
  current: PositionedLog | undefined;
  position: LogPosition;
};

export type LogFilesQuery = EntryQuery & { tailLines?: number; follow?: boolean };

/** Opens the current log file and finds either all rotated ones or only those that contain part of the last `tailLines` lines. */
export async function openLogs(path: string, query: LogFilesQuery, signal: AbortSignal): Promise<LogStart> {
  const opened = openRegular(path);
  try {
    const before = await filesBefore(path, opened);
    const position = { order: before.at(-1)?.order ?? '' };
    const { tailLines: lines } = query;
    const tail = lines === undefined ? undefined : await openTail({ before, opened, query, lines }, signal);
    const rotated = tail === undefined ? openEach(before, query) : alreadyOpen(tail.rotated);
    const current = opened && new PlainLog({ query, opened, ...tail?.current });
    return { rotated, current: current && placed(path, current, { position, isAfterGap: false }), position };
  } catch (error) {
    if (opened !== undefined) closeSync(opened.file);
    throw error;
  }
}

function placed(
  path: string,
  log: PlainLog,
  { position, isAfterGap }: Pick<PositionedLog, 'position' | 'isAfterGap'>,
): PositionedLog {
  return { log, position: { ...position, current: log }, isAfterGap, isComplete: () => log.isReplacedAt(path) };
}

type TailInput = { before: RotatedLog[]; opened: OpenedFile | undefined; query: LogFilesQuery; lines: number };

/** Opens the files that contain the last lines, counting back from the log's current end; later writes do not count. */
async function openTail(
  { before, opened, query, lines }: TailInput,
  signal: AbortSignal,
): Promise<{ rotated: LogFile[]; current: Pick<PlainLogInput, 'begin' | 'end'> }> {
  const size = opened?.stats.size ?? 0;
  const begin = opened && (await findTail(opened.file, { size, lines, signal }));
  const rotated: LogFile[] = [];
  let left = opened === undefined ? lines : begin?.before;
  try {
    for (const file of before.toReversed()) {
      if (left === undefined || lines === 0) break;
      const found = await openLast(file, query, { lines: left, isContinued: left < lines, signal });
      if (found === undefined) break;
      rotated.unshift(found.log);
      left = found.before;
    }
  } catch (error) {
    for (const log of rotated) log.close();
    throw error;
  }
  return { rotated, current: { begin, end: query.follow ? undefined : size } };
}

async function openLast(
  { path, isCompressed }: RotatedLog,
  query: EntryQuery,
  search: { lines: number; isContinued: boolean; signal: AbortSignal },
): Promise<{ log: LogFile; before: number | undefined } | undefined> {
  const opened = openRegular(path);
  if (opened === undefined) return undefined;
  try {
    if (isCompressed) {
      const log = new CompressedLog({ query, opened });
      return { log, before: await log.showLast(search) };
    }
    const begin = await findTail(opened.file, { ...search, size: opened.stats.size });
    return { log: new PlainLog({ query, opened, begin }), before: begin.before };
  } catch (error) {
    closeSync(opened.file);
    throw error;
  }
}

/** Yields log files that are already open. The consumer must close each one it receives. */
async function* alreadyOpen(logs: LogFile[]): AsyncGenerator<LogFile> {
  try {
    for (let log = logs.shift(); log !== undefined; log = logs.shift()) yield log;
  } finally {
    for (const log of logs) log.close();
  }
}

async function* openEach(files: RotatedLog[], query: EntryQuery): AsyncGenerator<LogFile | undefined> {
  for (const file of files) {
    const opened = openRotated(file);
    if (opened !== undefined && query.sinceMs !== undefined && opened.stats.mtimeMs < query.sinceMs)
      closeSync(opened.file);
    else yield opened && logOf(opened, query);
  }
}

type OpenedRotated = OpenedFile & { isCompressed: boolean };

/** Opens a rotated log, or the compressed form if it was compressed after the directory was listed. */
function openRotated({ path, isCompressed }: RotatedLog): OpenedRotated | undefined {
  const found = openRegular(path);
  if (found !== undefined) return { ...found, isCompressed };
  const compressed = isCompressed ? undefined : openRegular(`${path}.gz`);
  return compressed && { ...compressed, isCompressed: true };
}

const logOf = (opened: OpenedRotated, query: EntryQuery) =>
  opened.isCompressed ? new CompressedLog({ query, opened }) : new PlainLog({ query, opened });

/** Opens the log file after the one at `position`; `undefined` if there is none yet. */
export async function nextLog(
  path: string,
  position: LogPosition,
  query: EntryQuery,
): Promise<PositionedLog | undefined> {
  const opened = openRegular(path);
  try {
    const all = await filesBefore(path, opened);
    const own = await fileAt(position, all);
    const later = all.filter(({ order }) => order > (own?.order ?? position.order));
    let isAfterGap = own === undefined && later.length > 0;
    for (const file of later) {
      const found = openRotated(file);
      if (found !== undefined) {
        if (opened !== undefined) closeSync(opened.file);
        return { log: logOf(found, query), position: { order: file.order }, isAfterGap, isComplete: () => true };
      }
      isAfterGap = true;
    }
    const order = all.at(-1)?.order ?? position.order;
    return opened && placed(path, new PlainLog({ query, opened }), { position: { order }, isAfterGap });
  } catch (error) {
    if (opened !== undefined) closeSync(opened.file);
    throw error;
  }
}

/**
 * Returns the rotated log at this position if it still exists. If the position was that of the current file, recognizes the file by its
 * inode or first bytes.
 */
async function fileAt({ order, current }: LogPosition, all: RotatedLog[]): Promise<RotatedLog | undefined> {
  if (current === undefined) return all.find((file) => file.order === order);
  for (const file of all.filter((one) => one.order > order)) {
    const found = openRotated(file);
    if (found === undefined) continue;
    try {
      if (!found.isCompressed && found.stats.ino === current.inode) return file;
      if (found.isCompressed && (await hasSameHead(found, current))) return file;
    } finally {
      closeSync(found.file);
    }
  }
  return undefined;
}

async function hasSameHead(opened: OpenedFile, current: PlainLog): Promise<boolean> {
  const head = await new CompressedLog({ query: {}, opened }).head(HEAD_BYTES);
  return head.length > 0 && head.equals(current.head(HEAD_BYTES));
}

/** Returns the rotated logs that are older than the open file, without duplicates. */
async function filesBefore(path: string, opened: OpenedFile | undefined): Promise<RotatedLog[]> {
  const all = await rotatedLogs(path);
  const each = all.filter(({ order }, index) => order !== all[index - 1]?.order);
  const isOpen = (file: RotatedLog) => lstatSync(file.path, { throwIfNoEntry: false })?.ino === opened?.stats.ino;
  const own = opened === undefined ? -1 : each.findIndex(isOpen);
  return own < 0 ? each : each.slice(0, own);
}
