/** The text of log entries. */
import { entryParts } from './cri-log.ts';
import { isDockerLine, parseDockerLine } from './docker-log.ts';
import type { LogStream } from './log-entry.ts';

/** A log line is cut by its writer at 16 KiB; more than this without a newline is not a log. */
const MAX_LOG_LINE_BYTES = 1 << 20;

export const NEWLINE = 0x0a;

/** Which entries are shown, and how. */
export type EntryQuery = {
  /** Only entries at or after this time. */
  sinceMs?: number;
  /** Each line begins with its time. */
  timestamps?: boolean;
  /** Only what was written to this stream. */
  stream?: LogStream;
};

/** Makes text of the pieces of one file, of the whole entries that it has seen. */
export class EntryText {
  readonly #query: EntryQuery;
  #rest: Buffer = Buffer.alloc(0);

  constructor(query: EntryQuery) {
    this.#query = query;
  }

  /** The selected text of the entries that the next piece of the file completes. */
  of(piece: Buffer): Buffer {
    return this.render(this.wholeEntries(piece));
  }

  render(entries: Buffer): Buffer {
    return renderLines(entries, this.#query);
  }

  /** The entries that the next piece completes, as they are. */
  wholeEntries(piece: Buffer): Buffer {
    const data = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = data.lastIndexOf(NEWLINE) + 1;
    this.#rest = data.length - end > MAX_LOG_LINE_BYTES ? Buffer.alloc(0) : data.subarray(end);
    return data.subarray(0, end);
  }

  /** The selected text of what follows the last newline: an entry that the runtime did not finish, as it was killed or had no space. */
  rest(): Buffer {
    return this.render(this.#rest);
  }
}

/** What of lines of the file is wanted, as text, which is never longer than they are. Only the last one may lack its newline. */
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

/** Writes what is wanted of one of Docker's lines and returns its length. */
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
