/** Extracts the text of log entries. */
import { entryParts } from './cri-log.ts';
import { isDockerLine, parseDockerLine } from './docker-log.ts';
import type { LogStream } from './log-entry.ts';

/** Maximum length of a log entry. Container runtimes split log lines at 16 KiB, so a longer text without a newline is not a log. */
const MAX_LOG_LINE_BYTES = 1 << 20;

export const NEWLINE = 0x0a;
const LINE_END = Buffer.from('\n');

/** Which log entries to select, and how to format them. */
export type EntryQuery = {
  /** Only select entries written at or after this time (Unix milliseconds). */
  sinceMs?: number;
  /** Whether to prefix each line with its timestamp. */
  timestamps?: boolean;
  /** Only select entries from this stream (stdout or stderr). */
  stream?: LogStream;
};

/** Extracts text from successive chunks of a log file, entry by entry. */
export class EntryText {
  readonly #query: EntryQuery;
  #rest: Buffer = Buffer.alloc(0);
  /**
   * Whether the next selected entry starts a line, because the previous one was not partial. Timestamps are only added at the start of a
   * line.
   */
  #startsLine = true;

  constructor(query: EntryQuery) {
    this.#query = query;
  }

  /** Returns the selected text of the entries that end in `piece`, the file's next chunk. */
  of(piece: Buffer): Buffer {
    return this.render(this.wholeEntries(piece));
  }

  /**
   * Returns the selected text of the entries, which is never longer than the entries themselves. Only the last entry may lack its newline.
   */
  render(entries: Buffer): Buffer {
    const text = Buffer.allocUnsafe(entries.length);
    let length = 0;
    for (let start = 0, end = 0; start < entries.length; start = end + 1) {
      end = lineEnd(entries, start);
      const isDocker = isDockerLine(entries, start);
      const entry = isDocker ? dockerEntry(entries.subarray(start, end)) : criEntry(entries, start, end);
      if (entry === undefined || !isWanted(entry, this.#query)) continue;
      if (this.#query.timestamps && this.#startsLine) length += text.write(`${entry.time()} `, length, 'latin1');
      length += entry.text.copy(text, length);
      this.#startsLine = !entry.partial;
    }
    return text.subarray(0, length);
  }

  /** Returns the raw entries that end in `piece`, the file's next chunk. */
  wholeEntries(piece: Buffer): Buffer {
    const data = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = data.lastIndexOf(NEWLINE) + 1;
    this.#rest = data.length - end > MAX_LOG_LINE_BYTES ? Buffer.alloc(0) : data.subarray(end);
    return data.subarray(0, end);
  }

  /** Returns the selected text after the last newline: an unfinished entry, caused by a killed container runtime or a full disk. */
  rest(): Buffer {
    return this.render(this.#rest);
  }
}

/** An entry to print. Its text includes the newline, unless the entry is partial or the file ends without one. */
type PrintedEntry = { time: () => string; stream: LogStream; partial: boolean; text: Buffer };

function criEntry(lines: Buffer, start: number, end: number): PrintedEntry | undefined {
  const entry = entryParts(lines, start, end);
  if (entry === undefined) return undefined;
  const { stream, partial, timeEnd, textStart } = entry;
  const text = lines.subarray(textStart, partial ? end : Math.min(end + 1, lines.length));
  return { time: () => lines.toString('latin1', start, timeEnd), stream, partial, text };
}

function dockerEntry(line: Buffer): PrintedEntry | undefined {
  const entry = parseDockerLine(line);
  if (entry === undefined) return undefined;
  const { time, stream, partial, text } = entry;
  return { time: () => time, stream, partial, text: partial ? text : Buffer.concat([text, LINE_END]) };
}

function lineEnd(lines: Buffer, start: number): number {
  const newline = lines.indexOf(NEWLINE, start);
  return newline < 0 ? lines.length : newline;
}

function isWanted({ stream, time }: PrintedEntry, query: EntryQuery): boolean {
  if (query.stream !== undefined && stream !== query.stream) return false;
  return query.sinceMs === undefined || !(Date.parse(time()) < query.sinceMs);
}
