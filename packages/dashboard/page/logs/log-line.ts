/** Parses log lines with timestamps. Pure functions. */

export type LogLine = {
  /** RFC 3339 in UTC with nanoseconds (nine digits), so that times can be compared as strings. '' if the line has no timestamp. */
  time: string;
  /** The container that wrote the line, as an index into `LogRequest.containers`. */
  source: number;
  text: string;
};

/** Matches a timestamp (RFC 3339) and the space after it. The fractional seconds may have any length. */
const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d) ?/;

/** The length of a UTC timestamp with nanoseconds, the usual format of the kubelet. */
const FULL_STAMP = 30;

/** Splits a line into timestamp and text. */
export function logLine(line: string, source: number): LogLine {
  if (line[19] === '.' && line[29] === 'Z' && line[30] === ' ' && line[10] === 'T')
    return { time: line.slice(0, FULL_STAMP), source, text: line.slice(FULL_STAMP + 1) };
  const match = STAMPED.exec(line);
  if (match === null) return { time: '', source, text: line };
  const [stamp, seconds, fraction = '', zone] = match;
  // UTC offsets are whole minutes, so the fractional seconds stay the same
  const utc = zone === 'Z' ? seconds! : new Date(`${seconds}${zone}`).toISOString().slice(0, 19);
  return { time: `${utc}.${fraction.slice(1, 10).padEnd(9, '0')}Z`, source, text: line.slice(stamp.length) };
}

/** Returns a rough estimate of a line's memory usage, in bytes. */
export const sizeOf = ({ text }: LogLine): number => text.length + 80;
