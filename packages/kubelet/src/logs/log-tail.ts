import type { FileHandle } from 'node:fs/promises';
import { parseLogLine } from './cri-log.ts';

const BLOCK_BYTES = 64 << 10;
/** Enough of a line to see its tags. */
const HEAD_BYTES = 64;

/**
 * Where the last `lines` lines of a CRI log begin. Partial entries belong to the line that ends them, so they are not
 * counted. Reads the file backwards in blocks.
 */
export async function tailOffset(handle: FileHandle, lines: number): Promise<number> {
  const { size } = await handle.stat();
  if (lines <= 0) return size;
  let found = 0;
  // `start` walks over the beginnings of lines, from the last to the first.
  for await (const start of lineStarts(handle, size)) {
    const head = Buffer.alloc(HEAD_BYTES);
    const { bytesRead } = await handle.read(head, 0, HEAD_BYTES, start);
    const line = head.subarray(0, bytesRead);
    const end = line.indexOf(0x0a);
    const entry = parseLogLine(end < 0 ? line : line.subarray(0, end));
    if (entry === undefined || entry.partial) continue;
    found++;
    if (found > lines) return nextLine(handle, start);
  }
  return 0;
}

async function* lineStarts(handle: FileHandle, size: number): AsyncGenerator<number> {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - BLOCK_BYTES);
    const { bytesRead } = await handle.read(block, 0, end - from, from);
    for (let at = bytesRead - 1; at >= 0; at--) {
      if (block[at] === 0x0a && from + at + 1 < size) yield from + at + 1;
    }
    end = from;
  }
  yield 0;
}

async function nextLine(handle: FileHandle, start: number): Promise<number> {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let offset = start; ; ) {
    const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, offset);
    if (bytesRead === 0) return offset;
    const newline = block.subarray(0, bytesRead).indexOf(0x0a);
    if (newline >= 0) return offset + newline + 1;
    offset += bytesRead;
  }
}
