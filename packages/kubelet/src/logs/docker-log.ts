import type { LogEntry } from './log-entry.ts';

/** What a line of Docker's json-file driver begins with; no time does. */
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const BACKSLASH = 0x5c;
/** What follows the text of a line. In the text every quote has a backslash before it, so this is nowhere else. */
const AFTER_TEXT = Buffer.from('","stream":"');
const NEWLINE_ESCAPE = Buffer.from('\\n');

/** Whether a line of a log is one of Docker's. */
export function isDockerLine(data: Buffer, start: number): boolean {
  return data[start] === BRACE;
}

/**
 * An entry of Docker's json-file log driver, `{"log":"text\n","stream":"stdout","time":"…"}`. A line of more than 16 KiB comes in
 * pieces, all but the last without the newline in the text. Nothing for anything else. Time and text are shorter than the line.
 */
export function parseDockerLine(line: Buffer): LogEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
  const { log, stream, time } = value as Record<string, unknown>; // it begins with a brace
  if (typeof log !== 'string' || typeof time !== 'string' || (stream !== 'stdout' && stream !== 'stderr'))
    return undefined;
  const isWhole = log.endsWith('\n');
  const text = Buffer.from(isWhole ? log.slice(0, -1) : log);
  if (text.length + time.length + 2 > line.length) return undefined; // bytes that are no UTF-8: Docker writes none
  return { time, stream, partial: !isWhole, text };
}

/** Whether a line goes on in the next one, without decoding it; `undefined` if the end of its text is not in `line`, or the line breaks off. */
export function isPartialDockerLine(line: Buffer): boolean | undefined {
  const textEnd = line.lastIndexOf(AFTER_TEXT);
  if (textEnd < 0 || line.at(-1) !== CLOSING_BRACE) return undefined;
  const escapeAt = textEnd - NEWLINE_ESCAPE.length;
  if (escapeAt < 0 || !line.subarray(escapeAt, textEnd).equals(NEWLINE_ESCAPE)) return true;
  let backslashes = 1;
  while (line[escapeAt - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 0; // a backslash of the text itself, and the letter n
}
