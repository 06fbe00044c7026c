import { isDockerLine, parseDockerLine } from './docker-log.ts';
import type { LogEntry, LogStream } from './log-entry.ts';

/**
 * Offsets of the parts of a log entry in its buffer: the timestamp ends at `timeEnd`, and the text runs from `textStart` to the end of the
 * line.
 */
export type EntryParts = { timeEnd: number; stream: LogStream; partial: boolean; textStart: number };

const STREAMS = { stdout: Buffer.from('stdout'), stderr: Buffer.from('stderr') };
const STREAM_BYTES = 6;
const SPACE = 0x20;
const COLON = 0x3a;
const PARTIAL = 0x50;

/**
 * Finds the parts of the line between `start` and `end` in the CRI log format, `TIME STREAM TAGS TEXT` without its newline
 * (kubernetes/design-proposals kubelet-cri-logging). Tags are separated by colons; `P` means partial. Returns `undefined` for any other
 * line. Copies nothing, because 100 MB of logs contain about a million lines.
 */
export function entryParts(data: Buffer, start: number, end: number): EntryParts | undefined {
  const timeEnd = spaceAfter(data, start, end);
  const streamEnd = timeEnd + 1 + STREAM_BYTES;
  if (timeEnd === start || streamEnd >= end || data[streamEnd] !== SPACE) return undefined;
  const stream = streamAt(data, timeEnd + 1);
  if (stream === undefined) return undefined;
  const tags = streamEnd + 1;
  const tagsEnd = spaceAfter(data, tags, end);
  const firstTagEnds = tags + 1 === tagsEnd || data[tags + 1] === COLON;
  const partial = data[tags] === PARTIAL && firstTagEnds;
  return { timeEnd, stream, partial, textStart: Math.min(tagsEnd + 1, end) };
}

/**
 * Returns the offset of the first space at or after `start`; `end` if there is none. Faster than `indexOf`, because the fields of a log
 * entry are short.
 */
function spaceAfter(data: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && data[at] !== SPACE) at++;
  return at;
}

function streamAt(data: Buffer, start: number): LogStream | undefined {
  for (const name of ['stdout', 'stderr'] as const) {
    const wanted = STREAMS[name];
    let same = 0;
    while (same < STREAM_BYTES && data[start + same] === wanted[same]) same++;
    if (same === STREAM_BYTES) return name;
  }
  return undefined;
}

/** Decodes a line in the CRI's or Docker's log format; `undefined` for any other line. */
export function parseLogLine(line: Buffer): LogEntry | undefined {
  if (isDockerLine(line, 0)) return parseDockerLine(line);
  const parts = entryParts(line, 0, line.length);
  if (parts === undefined) return undefined;
  const { timeEnd, stream, partial, textStart } = parts;
  return { time: line.toString('latin1', 0, timeEnd), stream, partial, text: line.subarray(textStart) };
}
