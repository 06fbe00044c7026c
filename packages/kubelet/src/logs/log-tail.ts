import type { FileHandle } from 'node:fs/promises';
import { MAX_TAIL_LINE_BYTES } from '../limits.ts';
import { parseLogLine } from './cri-log.ts';
import { isDockerLine, isPartialDockerLine } from './docker-log.ts';

const BLOCK_BYTES = 64 << 10;
/** Enough of an entry to see its tags. */
const HEAD_BYTES = 64;
/** Enough of the end of one of Docker's to see whether its text is a whole line. */
const DOCKER_END_BYTES = 4 << 10;
const NEWLINE = 0x0a;

export type TailSearch = {
  /** Lines to find. */
  lines: number;
  /** Looks no further back than so many bytes from the end; the whole file unless given. */
  withinBytes?: number;
  signal?: AbortSignal;
};

/**
 * Where the last lines of a log begin. Partial entries belong to the line that ends them, so they are not counted; of a line
 * whose pieces take more than 16 MiB, and of what lies beyond `withinBytes`, only the end is found. Reads the file backwards in
 * blocks. Rejects with the signal's reason when it aborts.
 */
export async function tailOffset(handle: FileHandle, { lines, withinBytes, signal }: TailSearch): Promise<number> {
  const { size } = await handle.stat();
  if (lines <= 0) return size;
  const first = Math.max(0, size - (withinBytes ?? size));
  let found = 0;
  /** The end of the line that is being looked for, and where the earliest entry begins. */
  let wanted = size;
  let earliest = size;
  for await (const { from, entries } of entriesBackwards(handle, { size, first, signal })) {
    for (const { start, end, partial } of entries) {
      if (!partial && ++found > lines) return end;
      if (!partial) wanted = end;
      earliest = start;
    }
    if (wanted - from > MAX_TAIL_LINE_BYTES) break;
  }
  return earliest;
}

type EntryPlace = { start: number; end: number; partial: boolean };

/** The entries of a log from the last to the first whole one at or after `first`, those of one block at a time. */
async function* entriesBackwards(
  handle: FileHandle,
  { size, first, signal }: { size: number; first: number; signal?: AbortSignal },
): AsyncGenerator<{ from: number; entries: EntryPlace[] }> {
  // behind the block lies the beginning of the one after it, for entries whose tags are there
  const buffer = Buffer.alloc(BLOCK_BYTES + HEAD_BYTES);
  let entryEnd = size;
  for (let blockEnd = size; blockEnd > first; ) {
    signal?.throwIfAborted();
    const from = Math.max(first, blockEnd - BLOCK_BYTES);
    buffer.copy(buffer, blockEnd - from, 0, HEAD_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, blockEnd - from, from);
    const known = buffer.subarray(0, Math.min(size - from, bytesRead + HEAD_BYTES));
    const starts: number[] = [];
    const take = (start: number) => void starts.push(start);
    for (let at = lineEndBefore(buffer, blockEnd - from); at >= 0; at = lineEndBefore(buffer, at)) {
      if (from + at + 1 < size) take(from + at + 1);
    }
    if (from === 0) take(0);
    const entries: EntryPlace[] = [];
    for (const start of starts) {
      const head = known.subarray(start - from, start - from + HEAD_BYTES);
      const partial = isDockerLine(head, 0)
        ? await isPartialDockerEntry(handle, { start, end: entryEnd, known, from })
        : entryAt(head)?.partial;
      if (partial !== undefined) entries.push({ start, end: entryEnd, partial });
      entryEnd = start;
    }
    yield { from, entries };
    blockEnd = from;
  }
}

/** The last line end in front of `before`, -1 if there is none. */
function lineEndBefore(buffer: Buffer, before: number): number {
  return before === 0 ? -1 : buffer.lastIndexOf(NEWLINE, before - 1);
}

/** The entry that begins here, as far as its head shows. */
function entryAt(head: Buffer) {
  const end = head.indexOf(NEWLINE);
  return parseLogLine(end < 0 ? head : head.subarray(0, end));
}

/** Whether one of Docker's entries goes on in the next: its end tells, which may lie beyond the bytes that are known. */
async function isPartialDockerEntry(
  handle: FileHandle,
  { start, end, known, from }: { start: number; end: number; known: Buffer; from: number },
): Promise<boolean | undefined> {
  if (end - from <= known.length) return isPartialDockerLine(known.subarray(start - from, end - from));
  const position = Math.max(start, end - DOCKER_END_BYTES);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - position), 0, end - position, position);
  return isPartialDockerLine(buffer.subarray(0, bytesRead));
}
