import type { HeaderField } from './static-table.ts';

/** Largest value of a 7-bit prefix (RFC 7541, 5.1). Smaller integers fit in the prefix; all others continue in further bytes. */
const MOST_IN_PREFIX = 127;

/** Encodes fields as literals without indexing (RFC 7541, 6.2.2), which neither use nor change the dynamic table. */
export function encodeLiterals(fields: readonly HeaderField[]): Buffer {
  let sizeBytes = 0;
  for (const [name, value] of fields) sizeBytes += 1 + sizeOfString(name.length) + sizeOfString(value.length);
  const block = Buffer.allocUnsafe(sizeBytes);
  let at = 0;
  for (const [name, value] of fields) {
    block[at] = 0;
    at = putString(block, at + 1, name);
    at = putString(block, at, value);
  }
  return block;
}

/** Returns the size of an encoded string: the size of its encoded length, plus one byte per character. */
function sizeOfString(length: number): number {
  let sizeBytes = 1 + length;
  if (length < MOST_IN_PREFIX) return sizeBytes;
  sizeBytes++;
  for (let rest = (length - MOST_IN_PREFIX) >>> 7; rest > 0; rest >>>= 7) sizeBytes++;
  return sizeBytes;
}

/** Writes an encoded string at an offset. Returns the offset of its end. */
function putString(block: Buffer, offset: number, text: string): number {
  const at = putLength(block, offset, text.length);
  return at + block.write(text, at, 'latin1');
}

/** Writes an integer with a 7-bit prefix (RFC 7541, 5.1). Returns the offset of its end. */
function putLength(block: Buffer, offset: number, length: number): number {
  let at = offset;
  if (length < MOST_IN_PREFIX) {
    block[at++] = length;
    return at;
  }
  block[at++] = MOST_IN_PREFIX;
  let rest = length - MOST_IN_PREFIX;
  for (; rest >= 128; rest >>>= 7) block[at++] = (rest & 0x7f) | 0x80;
  block[at++] = rest;
  return at;
}
