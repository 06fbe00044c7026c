import type { PodwrightError } from '@podwright/base';
import { MAX_SPARSE_PARTS } from '../limits.ts';
import { type PaxRecord, paxInteger } from './pax-records.ts';
import { BLOCK_BYTES, malformed, parseNumber, type SparsePart } from './tar-header.ts';

/** Number of decimal digits in Number.MAX_SAFE_INTEGER. */
const MAX_DIGITS = 16;
const LINE_FEED = 0x0a;

/**
 * Parses the sparse map in an old GNU header block: up to 4 parts of the file, whether extension blocks follow, and the file's real size.
 */
export function oldGnuSparse(block: Buffer): { parts: SparsePart[]; more: boolean; realSize: number } {
  return {
    parts: structures(block, 386, 4),
    more: block[482] !== 0,
    realSize: parseNumber(block.subarray(483, 495), 'real size'),
  };
}

/** Parses an extension block of an old GNU header: up to 21 further parts of the sparse file, and whether more extension blocks follow. */
export function oldGnuSparseExtension(block: Buffer): { parts: SparsePart[]; more: boolean } {
  return { parts: structures(block, 0, 21), more: block[504] !== 0 };
}

function structures(block: Buffer, start: number, count: number): SparsePart[] {
  const parts: SparsePart[] = [];
  for (let at = start; at < start + count * 24; at += 24) {
    if (block[at] === 0) break;
    const offset = parseNumber(block.subarray(at, at + 12), 'sparse offset');
    parts.push({ offset, length: parseNumber(block.subarray(at + 12, at + 24), 'sparse length') });
  }
  return parts;
}

/** Returns the sparse map of PAX format 0.0 (a pair of records per part) or 0.1 (a single record); `undefined` if there is none. */
export function paxSparse(records: PaxRecord[]): SparsePart[] | undefined {
  const list = records.find(({ keyword }) => keyword === 'GNU.sparse.map');
  if (list !== undefined) return pairs(list.value.toString('latin1').split(',', 2 * MAX_SPARSE_PARTS + 1));
  const numbers = records.filter(({ keyword }) => /^GNU\.sparse\.(offset|numbytes)$/.test(keyword));
  return numbers.length === 0 ? undefined : pairs(numbers.map((record) => String(paxInteger(record))));
}

/**
 * Reads the sparse map of PAX format 1.0, which precedes the data. It consists of lines of decimal numbers, padded to a full block: the
 * number of parts, then the offset and length of each. Takes linear time.
 */
export async function readPaxSparse(readBlock: () => Promise<Buffer>): Promise<{ parts: SparsePart[]; bytes: number }> {
  const parts: SparsePart[] = [];
  let digits = '';
  let count: number | undefined;
  let offset: number | undefined;
  for (let bytes = BLOCK_BYTES; ; bytes += BLOCK_BYTES) {
    for (const byte of await readBlock()) {
      if (byte !== LINE_FEED) {
        digits += String.fromCharCode(byte);
        if (digits.length > MAX_DIGITS) throw invalidNumber();
        continue;
      }
      const value = decimal(digits);
      digits = '';
      if (count === undefined) count = value;
      else if (offset === undefined) offset = value;
      else {
        parts.push({ offset, length: value });
        offset = undefined;
      }
      if (count > MAX_SPARSE_PARTS) throw malformed('a sparse file has too many parts');
      if (parts.length === count) return { parts, bytes };
    }
  }
}

function pairs(numbers: string[]): SparsePart[] {
  if (numbers.length % 2 !== 0 || numbers.length > 2 * MAX_SPARSE_PARTS) throw malformed('a sparse map is incomplete');
  const parts: SparsePart[] = [];
  for (let index = 0; index < numbers.length; index += 2) {
    parts.push({ offset: decimal(numbers[index]!), length: decimal(numbers[index + 1]!) });
  }
  return parts;
}

function decimal(text: string): number {
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || text.length > MAX_DIGITS || !Number.isSafeInteger(value)) throw invalidNumber();
  return value;
}

function invalidNumber(): PodwrightError {
  return malformed('a sparse map has an invalid number');
}

/** Checks that a sparse file's parts are in order, lie within the file, and add up to the number of stored bytes. */
export function checkSparse(parts: SparsePart[], realSize: number, storedBytes: number): void {
  let end = 0;
  let stored = 0;
  for (const { offset, length } of parts) {
    if (offset < end || offset + length > realSize)
      throw malformed('the parts of a sparse file overlap or exceed its size');
    end = offset + length;
    stored += length;
  }
  if (stored !== storedBytes)
    throw malformed(`a sparse file has ${storedBytes} bytes stored, but ${stored} in its map`);
}
