/**
 * Domain names. As text, a name is its labels joined by dots without the dot of the root, whose text is ''. Bytes that are not printable
 * ASCII, dots inside labels and backslashes are written as `\DDD` (RFC 4343, section 2.1), so that the text can be split at dots, lowered
 * in case and written back without a loss.
 */
import { PodwrightError } from '@podwright/base';
import { HEADER_BYTES } from './numbers.ts';

/** RFC 1035, section 2.3.4. */
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;

/** Pointers that are followed in one name. Encoders use one or two; the bound keeps hostile messages cheap. */
const MAX_POINTERS = 16;

const POINTER_BITS = 0xc0;

/** A name that was read, and the offset of the first byte after it. */
export type ReadName = { name: string; end: number };

/**
 * Reads a name. Throws `invalid_argument` if it is not valid. A pointer may only point to a byte before the labels that it follows, so the
 * name of a question has none.
 */
export function readName(message: Buffer, offset: number): ReadName {
  let name = '';
  let bytes = 1;
  let end = -1;
  let pointers = 0;
  let at = offset;
  let start = offset;
  for (;;) {
    const length = byteAt(message, at);
    if (length === 0) return { name, end: end < 0 ? at + 1 : end };
    if (length >= POINTER_BITS) {
      const target = ((length & ~POINTER_BITS) << 8) | byteAt(message, at + 1);
      if (end < 0) end = at + 2;
      const isValid = target >= HEADER_BYTES && target < start && ++pointers <= MAX_POINTERS;
      if (!isValid) throw malformed('a pointer of a name is not valid');
      at = target;
      start = target;
      continue;
    }
    bytes += length + 1;
    if (length > MAX_LABEL_BYTES || bytes > MAX_NAME_BYTES) throw malformed('a name or label is too long');
    if (at + 1 + length > message.length) throw malformed('a name ends early');
    const label = labelText(message.toString('latin1', at + 1, at + 1 + length));
    name = name === '' ? label : `${name}.${label}`;
    at += length + 1;
  }
}

/** Returns the offset of the first byte after a name, without reading what its pointer points to. */
export function skipName(message: Buffer, offset: number): number {
  for (let at = offset; ; ) {
    const length = byteAt(message, at);
    if (length === 0) return at + 1;
    if (length >= POINTER_BITS) {
      byteAt(message, at + 1);
      return at + 2;
    }
    if (length > MAX_LABEL_BYTES) throw malformed('a label is too long');
    at += length + 1;
  }
}

/** Splits a name, most significant label last. */
export function labelsOf(name: string): string[] {
  return name === '' ? [] : name.split('.');
}

/** Lowers the case of a name for comparisons (RFC 4343). */
export function lowered(name: string): string {
  return name.toLowerCase();
}

/** Whether a name is `domain` or below it. Both are lower case. */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || domain === '' || name.endsWith(`.${domain}`);
}

/** Returns the bytes of a label that is given as text. */
export function labelBytes(label: string): Buffer {
  const text = label.includes('\\')
    ? label.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number(code)))
    : label;
  return Buffer.from(text, 'latin1');
}

/** Whether a text is a name that can be written into a message. A dot at the end is not accepted. */
export function isName(text: string): boolean {
  const sizes = labelsOf(text).map((label) => labelBytes(label).length);
  const isLabel = (size: number) => size > 0 && size <= MAX_LABEL_BYTES;
  return sizes.every(isLabel) && sizes.reduce((sum, size) => sum + size + 1, 1) <= MAX_NAME_BYTES;
}

function labelText(bytes: string): string {
  if (!/[^\x21-\x7e]|[.\\]/.test(bytes)) return bytes;
  return bytes.replace(/[^\x21-\x7e]|[.\\]/g, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, '0')}`);
}

function byteAt(message: Buffer, offset: number): number {
  const byte = message[offset];
  if (byte === undefined) throw malformed('a name ends early');
  return byte;
}

/** The error for a message that breaks the format. */
export function malformed(what: string): PodwrightError {
  return new PodwrightError('invalid_argument', what);
}
