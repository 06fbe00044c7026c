/** A line of a log that was read with timestamps. Pure. */

export type LogLine = {
  /** RFC 3339 with nanoseconds as the server wrote it; '' if the line has none. Times of one length are compared as text. */
  time: string;
  /** Index of the container in the list of the view. */
  source: number;
  text: string;
};

/** `2026-11-30T12:00:00.123456789Z text`, with fractions of any length. */
const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d) ?/;

/** The length of a stamp in UTC with nanoseconds, which nearly all lines have. */
const FULL_STAMP = 30;

export function logLine(line: string, source: number): LogLine {
  if (line[19] === '.' && line[29] === 'Z' && line[30] === ' ' && line[10] === 'T')
    return { time: line.slice(0, FULL_STAMP), source, text: line.slice(FULL_STAMP + 1) };
  const match = STAMPED.exec(line);
  if (match === null) return { time: '', source, text: line };
  const [stamp, seconds, fraction = '', zone] = match;
  // a zone other than UTC moves the minutes at most
  const utc = zone === 'Z' ? seconds! : new Date(`${seconds}${zone}`).toISOString().slice(0, 19);
  return { time: `${utc}.${fraction.slice(1, 10).padEnd(9, '0')}Z`, source, text: line.slice(stamp.length) };
}

/** The memory that a line takes, roughly. */
export const sizeOf = ({ text }: LogLine): number => text.length + 80;
