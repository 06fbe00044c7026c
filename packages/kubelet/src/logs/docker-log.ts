import type { LogEntry } from './log-entry.ts';

/** First byte of a line written by Docker's json-file driver. CRI log lines begin with a timestamp instead. */
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const BACKSLASH = 0x5c;
/** The bytes after the text in a Docker log line. The text itself cannot contain them, because its quotes are escaped. */
const AFTER_TEXT = Buffer.from('","stream":"');
const NEWLINE_ESCAPE = Buffer.from('\\n');

/** Whether a line is in Docker's log format. */
export function isDockerLine(data: Buffer, start: number): boolean {
  return data[start] === BRACE;
}

/**
 * Decodes an entry of Docker's json-file log driver, `{"log":"text\n","stream":"stdout","time":"…"}`. Docker splits lines longer than 16
 * KiB into several entries; only the text of the last one ends with a newline. Returns `undefined` for any other line. The timestamp and
 * text together are always shorter than the line.
 */
export function parseDockerLine(line: Buffer): LogEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
  const { log, stream, time } = value as Record<string, unknown>; // valid JSON that begins with a brace is an object
  if (typeof log !== 'string' || typeof time !== 'string' || (stream !== 'stdout' && stream !== 'stderr'))
    return undefined;
  const isWhole = log.endsWith('\n');
  const text = Buffer.from(isWhole ? log.slice(0, -1) : log);
  if (text.length + time.length + 2 > line.length) return undefined; // invalid UTF-8, which Docker never writes
  return { time, stream, partial: !isWhole, text };
}

/**
 * Determines whether a Docker log entry is partial, without decoding it. Returns `undefined` if `line` is truncated or does not contain the
 * end of the text.
 */
export function isPartialDockerLine(line: Buffer): boolean | undefined {
  const textEnd = line.lastIndexOf(AFTER_TEXT);
  if (textEnd < 0 || line.at(-1) !== CLOSING_BRACE) return undefined;
  const escapeAt = textEnd - NEWLINE_ESCAPE.length;
  if (escapeAt < 0 || !line.subarray(escapeAt, textEnd).equals(NEWLINE_ESCAPE)) return true;
  let backslashes = 1;
  while (line[escapeAt - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 0; // an escaped backslash followed by the letter n
}
