/** Extracts the text of log entries. */
import { entryParts } from './cri-log.ts';
import { isDockerLine, parseDockerLine } from './docker-log.ts';
import type { LogStream } from './log-entry.ts';

/** Maximum length of a log entry. Container runtimes split log lines at 16 KiB, so a longer text without a newline is not a log. */
const MAX_LOG_LINE_BYTES = 1 << 20;

export const NEWLINE = 0x0a;

/** Which log entries to select, and how to format them. */
export type EntryQuery = {
  /** Select only entries at or after this time. */
  sinceMs?: number;
  /** Whether to prefix each line with its timestamp. */
  timestamps?: boolean;
  /** Select only entries from this stream. */
  stream?: LogStream;
};

/** Extracts text from successive chunks of a log file, entry by entry. */
export class EntryText {
  readonly #query: EntryQuery;
  #rest: Buffer = Buffer.alloc(0);

  constructor(query: EntryQuery) {
    this.#query = query;
  }

  /** Returns the selected text of the entries that end in `piece`, the file's next chunk. */
  of(piece: Buffer): Buffer {
    return this.render(this.wholeEntries(piece));
  }

  render(entries: Buffer): Buffer {
    return renderLines(entries, this.#query);
  }

  /** Returns the raw entries that end in `piece`, the file's next chunk. */
  wholeEntries(piece: Buffer): Buffer {
    const data = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = data.lastIndexOf(NEWLINE) + 1;
    this.#rest = data.length - end > MAX_LOG_LINE_BYTES ? Buffer.alloc(0) : data.subarray(end);
    return data.subarray(0, end);
  }

  /**
   * Returns the selected text after the last newline: an entry that is unfinished because the container runtime was killed or the disk was
   * full.
   */
  rest(): Buffer {
    return this.render(this.#rest);
  }
}

/** Returns the selected text of the lines, which is never longer than the lines themselves. Only the last line may lack its newline. */
function renderLines(lines: Buffer, query: EntryQuery): Buffer {
  const text = Buffer.allocUnsafe(lines.length);
  let length = 0;
  for (let start = 0, end = 0; start < lines.length; start = end + 1) {
    end = lineEnd(lines, start);
    if (isDockerLine(lines, start)) {
      length += renderDockerLine(lines.subarray(start, end), text.subarray(length), query);
      continue;
    }
    const entry = entryParts(lines, start, end);
    if (entry === undefined || !isWanted(entry, () => lines.toString('latin1', start, entry.timeEnd), query)) continue;
    if (query.timestamps) length += lines.copy(text, length, start, entry.timeEnd + 1);
    length += lines.copy(text, length, entry.textStart, entry.partial ? end : Math.min(end + 1, lines.length));
  }
  return text.subarray(0, length);
}

function lineEnd(lines: Buffer, start: number): number {
  const newline = lines.indexOf(NEWLINE, start);
  return newline < 0 ? lines.length : newline;
}

/** Writes the selected text of a Docker log line into `text`, and returns its length. */
function renderDockerLine(line: Buffer, text: Buffer, query: EntryQuery): number {
  const entry = parseDockerLine(line);
  if (entry === undefined || !isWanted(entry, () => entry.time, query)) return 0;
  let length = query.timestamps ? text.write(`${entry.time} `, 0) : 0;
  length += entry.text.copy(text, length);
  return entry.partial ? length : text.writeUInt8(NEWLINE, length);
}

function isWanted({ stream }: { stream: LogStream }, time: () => string, query: EntryQuery): boolean {
  if (query.stream !== undefined && stream !== query.stream) return false;
  return query.sinceMs === undefined || !(Date.parse(time()) < query.sinceMs);
}
