import { read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { entryParts } from './cri-log.ts';
import { isDockerLine, isPartialDockerLine } from './docker-log.ts';

/** Of a line that was written in pieces, so much of the file is looked through for its beginning. */
const MAX_TAIL_LINE_BYTES = 16 << 20;

const BLOCK_BYTES = 64 << 10;
/** Enough of an entry to see its tags. */
const HEAD_BYTES = 64;
/** Enough of the end of one of Docker's to see whether its text is a whole line. */
const DOCKER_END_BYTES = 4 << 10;
const NEWLINE = 0x0a;

export type TailSearch = {
  /** Of the file. */
  size: number;
  /** Lines to find. */
  lines: number;
  /** Looks no further back than so many bytes from the end; the whole file unless given. */
  withinBytes?: number;
  /** The log goes on in another file: entries after the last line end are the beginning of its first line, and none of their own. */
  isContinued?: boolean;
  signal?: AbortSignal;
};

/**
 * Where the last lines begin, and the bytes from there to the file's end if these were read on the way. `before` is there if they
 * begin with the file: so many more should be in the file before it, at whose end the first of these may begin, too.
 */
export type Tail = { offset: number; bytes?: Buffer; before?: number };

/** A piece of a log from `from` on, with the beginning of what follows it. */
type Block = { file: number; from: number; bytes: Buffer };

/** Reads a piece of an open file by a thread of the pool. */
export const readAt = promisify(read);

/**
 * Where the last lines of a log begin. Partial entries belong to the line that ends them, so they are not counted; the last ones,
 * whose line nothing has ended yet, are a line. Of a line whose pieces take more than 16 MiB, and of what lies beyond `withinBytes`,
 * only the end is found. Reads the file, an open one, backwards in blocks. Rejects with the signal's reason when it aborts.
 */
export async function findTail(file: number, search: TailSearch): Promise<Tail> {
  const { size, lines, withinBytes = size, isContinued = false, signal } = search;
  if (lines <= 0 && !isContinued) return { offset: size };
  const first = Math.max(0, size - withinBytes);
  // behind the block lies the beginning of the one after it, for entries whose tags are there
  const buffer = Buffer.alloc(BLOCK_BYTES + HEAD_BYTES);
  let found = 0;
  /** The end of the line that is being looked for, where the earliest entry begins, and the end of the one before the last look. */
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
      const endsLine = !partial || (found === 0 && !isContinued); // the last one may be unfinished
      if (endsLine && ++found > lines) return tailAt(next, block, size);
      if (endsLine) wanted = next;
      earliest = start;
    }
    if (wanted - from > MAX_TAIL_LINE_BYTES) break;
  }
  const tail = tailAt(earliest, block, size);
  return block.from === 0 ? { ...tail, before: Math.max(0, lines - found) } : tail;
}

/** The block has all up to the end if it is the first that was read. */
function tailAt(offset: number, { from, bytes }: Block, size: number): Tail {
  return from + bytes.length < size || offset < from ? { offset } : { offset, bytes: bytes.subarray(offset - from) };
}

/** Where entries begin that begin in the block, or right behind it, from the last to the first. */
function* startsBackwards(bytes: Buffer, { from, before }: { from: number; before: number }): Generator<number> {
  for (let at = lineEndBefore(bytes, before); at >= 0; at = lineEndBefore(bytes, at)) yield from + at + 1;
  if (from === 0) yield 0;
}

/** The last line end in front of `before`, -1 if there is none. */
function lineEndBefore(buffer: Buffer, before: number): number {
  return before === 0 ? -1 : buffer.lastIndexOf(NEWLINE, before - 1);
}

/** Whether the entry, which ends before its newline, goes on in the next one, as far as its head shows. Nothing for what is none. */
function isPartialEntry(block: Block, { start, end }: { start: number; end: number }): boolean | undefined {
  const { from, bytes } = block;
  if (isDockerLine(bytes, start - from)) return isPartialDockerEntry(block, { start, end });
  const headEnd = Math.min(start + HEAD_BYTES, end, from + bytes.length);
  return entryParts(bytes, start - from, headEnd - from)?.partial;
}

/** The end of one of Docker's entries tells, which may lie beyond the block: then it was read just before, and is in memory. */
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
