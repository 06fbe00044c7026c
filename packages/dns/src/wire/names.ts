/**
 * Domain names. In text form, labels are joined by dots, without a trailing dot; the root is ''. Backslashes, dots inside labels, and bytes
 * that are not printable ASCII are written as `\DDD` (RFC 4343, section 2.1), so that the text can be split at dots, lowercased and
 * converted back without loss.
 */
import { PodwrightError } from '@podwright/base';
import { HEADER_BYTES } from './numbers.ts';

/** Maximum length of a label. A whole name has at most `MAX_NAME_BYTES` (RFC 1035, section 2.3.4). */
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;

/** Maximum number of pointers to follow in a name. Encoders use one or two; the limit keeps malicious messages cheap. */
const MAX_POINTERS = 16;

const POINTER_BITS = 0xc0;

/** A parsed name, and the offset of the first byte after it. */
export type ReadName = { name: string; end: number };

/**
 * Parses a name. Throws `invalid_argument` if it is invalid. A compression pointer must point to an offset before the labels it follows, so
 * the name in a question contains no pointers.
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

/** Returns the offset of the first byte after a name, without following pointers. */
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

/** Splits a name into labels, the most significant one last. */
export function labelsOf(name: string): string[] {
  return name === '' ? [] : name.split('.');
}

/** Converts a name to lower case for comparison (RFC 4343). */
export function lowered(name: string): string {
  return name.toLowerCase();
}

/** Whether a name is `domain` or a subdomain of it. Both must be in lower case. */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || domain === '' || name.endsWith(`.${domain}`);
}

/** Returns the bytes of a label given as text. */
export function labelBytes(label: string): Buffer {
  const text = label.includes('\\')
    ? label.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number(code)))
    : label;
  return Buffer.from(text, 'latin1');
}

/** Whether the text is a name that can be encoded in a message. A trailing dot is not allowed. */
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

/** Returns the error for a malformed message. */
export function malformed(what: string): PodwrightError {
  return new PodwrightError('invalid_argument', what);
}
