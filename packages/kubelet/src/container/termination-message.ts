import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isErrno } from '@podwright/base';
import type { LegacyLog } from '../logs/container-logs.ts';
import { parseLogLine } from '../logs/cri-log.ts';
import { followLink } from '../logs/log-link.ts';
import { findTail } from '../logs/log-tail.ts';
import { NEWLINE } from '../logs/log-text.ts';
import { rotatedLogs } from '../logs/rotated-logs.ts';

/**
 * Maximum number of bytes read from the end of a log. Larger than the message, because log lines include timestamps and tags, and long
 * lines are split.
 */
const MAX_LOG_MESSAGE_READ_BYTES = 256 << 10;

/** Timeout for reading the end of a log that the container runtime does not write to a CRI log file. */
const LEGACY_LOG_TIMEOUT_MS = 10_000;

const MAX_LOG_MESSAGE_LINES = 80;

const MAX_LOG_MESSAGE_BYTES = 2048;

/** Kubernetes' limits: the last 4096 bytes of the termination message file, or the last 80 lines and 2048 bytes of the log. */
const MAX_MESSAGE_FILE_BYTES = 4096;

export type EndedContainer = {
  /** Host path of the container's termination message file; '' if it has none. */
  messagePath: string;
  policy: 'File' | 'FallbackToLogsOnError';
  exitCode: number;
  logPath: string;
  legacyLog?: LegacyLog;
};

/**
 * Returns the termination message: the content of the termination message file or, if that is empty and the container failed, the end of
 * the log (FallbackToLogsOnError).
 */
export async function terminationMessage(container: EndedContainer): Promise<string> {
  const message = container.messagePath === '' ? '' : await readMessage(container.messagePath);
  if (message !== '' || container.policy === 'File' || container.exitCode === 0) return message;
  return (await legacyLogEnd(container)) ?? (await readLogEnd(container.logPath));
}

async function readMessage(path: string): Promise<string> {
  return withFile(path, '', async (file, size) => {
    const start = Math.max(0, size - MAX_MESSAGE_FILE_BYTES);
    return wholeCharacters(await readBytes(file, start, Math.min(size, MAX_MESSAGE_FILE_BYTES)));
  });
}

/**
 * Returns the end of a container's log that is not stored as a CRI log file: '' if it cannot be read, or `undefined` if the log is a CRI
 * log file.
 */
async function legacyLogEnd({ legacyLog }: EndedContainer): Promise<string | undefined> {
  const query = { tailLines: MAX_LOG_MESSAGE_LINES };
  try {
    const text = await legacyLog?.logs.read(legacyLog.containerId, query, AbortSignal.timeout(LEGACY_LOG_TIMEOUT_MS));
    if (text === undefined) return undefined;
    let end = Buffer.alloc(0);
    for await (const chunk of text) end = Buffer.concat([end, chunk]).subarray(-MAX_LOG_MESSAGE_BYTES);
    return wholeCharacters(end);
  } catch {
    return '';
  }
}

async function readLogEnd(path: string): Promise<string> {
  const { text, lines, isWhole } = await logEnd(followLink(path), MAX_LOG_MESSAGE_LINES);
  const rotated = isWhole ? (await rotatedLogs(path)).at(-1) : undefined; // the newest rotated log is not compressed
  const linesBefore = MAX_LOG_MESSAGE_LINES - lines;
  const before = rotated === undefined || linesBefore <= 0 ? undefined : await logEnd(rotated.path, linesBefore);
  return wholeCharacters(Buffer.concat([before?.text ?? NOTHING, text]).subarray(-MAX_LOG_MESSAGE_BYTES));
}

const NOTHING = Buffer.alloc(0);

type LogPart = { text: Buffer; lines: number; isWhole: boolean };

/** Returns the last lines of a log file, and whether they are the whole file. Returns no lines if it is not a regular file. */
async function logEnd(path: string, lines: number): Promise<LogPart> {
  const nothing = { text: NOTHING, lines: 0, isWhole: true };
  return withFile<LogPart>(path, nothing, async (file, size) => {
    const { offset, bytes } = await findTail(file.fd, { size, lines, withinBytes: MAX_LOG_MESSAGE_READ_BYTES });
    const text = logText(bytes ?? (await readBytes(file, offset, size - offset)));
    return { text, lines: text.filter((byte) => byte === NEWLINE).length, isWhole: offset === 0 };
  });
}

/** Returns the text of the log entries in `bytes`, skipping the first entry if its beginning is cut off. */
function logText(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    const entry = parseLogLine(bytes.subarray(start, end));
    if (entry !== undefined) parts.push(entry.text, Buffer.from(entry.partial ? '' : '\n'));
    start = end + 1;
  }
  return Buffer.concat(parts);
}

/**
 * Opens a file and returns the result of `read`, or returns `without` if there is no regular file at the path. The container wrote the
 * file, so symlinks are not followed, and a FIFO is not read because that could block forever.
 */
async function withFile<T>(path: string, without: T, read: (file: FileHandle, size: number) => Promise<T>): Promise<T> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR'].some((code) => isErrno(error, code))) return without;
    throw error;
  }
  try {
    const stats = await file.stat();
    return stats.isFile() ? await read(file, stats.size) : without;
  } finally {
    await file.close();
  }
}

async function readBytes(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, start);
  return buffer.subarray(0, bytesRead);
}

/** Decodes UTF-8, skipping the remaining bytes of a character that was cut off at the beginning. */
function wholeCharacters(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.toString('utf8', start);
}
