import { read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { entryParts } from './cri-log.ts';
import { isDockerLine, isPartialDockerLine } from './docker-log.ts';

/** How far to search back for the beginning of a line that was written in several pieces. */
const MAX_TAIL_LINE_BYTES = 16 << 20;

const BLOCK_BYTES = 64 << 10;
/** Enough bytes from the start of a log entry to include its tags. */
const HEAD_BYTES = 64;
/** Enough bytes from the end of a Docker log entry to determine whether it is partial. */
const DOCKER_END_BYTES = 4 << 10;
const NEWLINE = 0x0a;

export type TailSearch = {
  /** Size of the file in bytes. */
  size: number;
  /** Number of lines to find from the end of the file. */
  lines: number;
  /** Only search the last `withinBytes` bytes of the file. Default: the whole file. */
  withinBytes?: number;
  /**
   * Whether the log continues in another file. Trailing partial entries then belong to that file's first line and do not count as a line of
   * their own.
   */
  isContinued?: boolean;
  signal?: AbortSignal;
};

/**
 * Where the last lines of a log file begin (`offset`), and the bytes from there to the end if the search has read them. `before` is the
 * number of lines left to read from the previous file, present if the search reached the beginning of this one. Even if it is 0, the first
 * line may begin in the previous file.
 */
export type Tail = { offset: number; bytes?: Buffer; before?: number };

/** A block of a log file at offset `from`, plus the first bytes of the next block. */
type Block = { file: number; from: number; bytes: Buffer };

/** Reads from an open file using the thread pool. */
export const readAt = promisify(read);

/**
 * Finds where the last lines of a log begin by reading the open file backwards in blocks. A partial entry counts as part of its line, and
 * trailing partial entries count as one line. If a line is longer than 16 MiB or begins before `withinBytes`, only its end is found.
 * Rejects with the signal's reason if the signal aborts.
 */
export async function findTail(file: number, search: TailSearch): Promise<Tail> {
  const { size, lines, withinBytes = size, isContinued = false, signal } = search;
  if (lines <= 0 && !isContinued) return { offset: size };
  const first = Math.max(0, size - withinBytes);
  // the buffer holds a block and the first bytes of the next one, which may contain the tags of the block's last entry
  const buffer = Buffer.alloc(BLOCK_BYTES + HEAD_BYTES);
  let found = 0;
  /**
   * offsets of the earliest line to return (`wanted`), of the earliest entry seen (`earliest`), and of the end of the next entry to check
   * (`lineEnd`)
   */
  let wanted = size;
  let earliest = size;
  let lineEnd = size;
  let block: Block = { file, from: size, bytes: buffer.subarray(0, 0) };
  for (let blockEnd = size; blockEnd > first; blockEnd = block.from) {
    signal?.throwIfAborted();
    const from = Math.max(first, blockEnd - BLOCK_BYTES);
    buffer.copy(buffer, blockEnd - from, 0, HEAD_BYTES);
    const { bytesRead } = await readAt(file, buffer, 0, blockEnd - from, from);
    const behind = blockEnd === size ? 0 : HEAD_BYTES;
    block = { file, from, bytes: buffer.subarray(0, Math.min(size - from, bytesRead + behind)) };
    for (const start of startsBackwards(buffer, { from, before: blockEnd - from })) {
      const entry = { start, end: lineEnd };
      lineEnd = start - 1;
      const partial = start < size ? isPartialEntry(block, entry) : undefined;
      if (partial === undefined) continue;
      const next = Math.min(entry.end + 1, size);
      const endsLine = !partial || (found === 0 && !isContinued); // the last line may be unfinished
      if (endsLine && ++found > lines) return tailAt(next, block, size);
      if (endsLine) wanted = next;
      earliest = start;
    }
    if (wanted - from > MAX_TAIL_LINE_BYTES) break;
  }
  const tail = tailAt(earliest, block, size);
  return block.from === 0 ? { ...tail, before: Math.max(0, lines - found) } : tail;
}

/**
 * Returns where the tail begins. Includes its bytes only if the block extends to the end of the file, that is, if it was the first one
 * read.
 */
function tailAt(offset: number, { from, bytes }: Block, size: number): Tail {
  return from + bytes.length < size || offset < from ? { offset } : { offset, bytes: bytes.subarray(offset - from) };
}

/** Yields the offsets of the entries that begin in the block or right after it, from last to first. */
function* startsBackwards(bytes: Buffer, { from, before }: { from: number; before: number }): Generator<number> {
  for (let at = lineEndBefore(bytes, before); at >= 0; at = lineEndBefore(bytes, at)) yield from + at + 1;
  if (from === 0) yield 0;
}

function lineEndBefore(buffer: Buffer, before: number): number {
  return before === 0 ? -1 : buffer.lastIndexOf(NEWLINE, before - 1);
}

/**
 * Whether the log entry is partial, judging by its first bytes; `undefined` if the line is invalid. `end`: the offset of the entry's
 * newline.
 */
function isPartialEntry(block: Block, { start, end }: { start: number; end: number }): boolean | undefined {
  const { from, bytes } = block;
  if (isDockerLine(bytes, start - from)) return isPartialDockerEntry(block, { start, end });
  const headEnd = Math.min(start + HEAD_BYTES, end, from + bytes.length);
  return entryParts(bytes, start - from, headEnd - from)?.partial;
}

/**
 * Checks the end of a Docker log entry, which shows whether the entry is partial. If the end is outside the block, it is read
 * synchronously, which is fast because it is in the page cache.
 */
function isPartialDockerEntry(
  { file, from, bytes }: Block,
  { start, end }: { start: number; end: number },
): boolean | undefined {
  if (end - from <= bytes.length) return isPartialDockerLine(bytes.subarray(start - from, end - from));
  const position = Math.max(start, end - DOCKER_END_BYTES);
  const ending = Buffer.alloc(end - position);
  const bytesRead = readSync(file, ending, 0, ending.length, position);
  return isPartialDockerLine(ending.subarray(0, bytesRead));
}
