/** The subset of DER (ITU-T X.690) needed for certificates and certificate requests: encoding values and decoding nested ones. */
import { PodwrightError } from '@podwright/base';

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Returns the context-specific tag `[number]`. It is constructed (contains other values) unless `isConstructed` is false. */
export const contextTag = (number: number, isConstructed = true): number => (isConstructed ? 0xa0 : 0x80) | number;

/** Encodes a value whose content is the concatenation of `parts`. */
export function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOctets(content.length), content]);
}

function lengthOctets(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 0x100)) digits.unshift(rest % 0x100);
  return Buffer.from([0x80 | digits.length, ...digits]);
}

export const sequence = (...parts: Buffer[]): Buffer => der(TAG.sequence, ...parts);
export const set = (...parts: Buffer[]): Buffer => der(TAG.set, ...parts);
export const octetString = (bytes: Buffer): Buffer => der(TAG.octetString, bytes);
export const bitString = (bytes: Buffer, unusedBits = 0): Buffer =>
  der(TAG.bitString, Buffer.from([unusedBits]), bytes);
/** The BOOLEAN true. False is never encoded: it is the default of all booleans in X.509, and DER omits default values. */
export const TRUE: Buffer = der(TAG.boolean, Buffer.from([0xff]));

/** Encodes a non-negative integer from big-endian bytes without leading zeros. */
export function integer(bytes: Buffer): Buffer {
  const hasSignBit = (bytes[0]! & 0x80) !== 0;
  return der(TAG.integer, ...(hasSignBit ? [Buffer.from([0])] : []), bytes);
}

/** Encodes an object identifier, such as `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(TAG.objectIdentifier, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const digits = [value % 0x80];
  for (let rest = Math.floor(value / 0x80); rest > 0; rest = Math.floor(rest / 0x80))
    digits.unshift((rest % 0x80) | 0x80);
  return digits;
}

/** Encodes a time with second precision: as UTCTime through 2049, and as GeneralizedTime from 2050 on (RFC 5280, 4.1.2.5). */
export function time(date: Date): Buffer {
  const text = `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`;
  return date.getUTCFullYear() < 2050
    ? der(TAG.utcTime, Buffer.from(text.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(text));
}

export type DerValue = {
  tag: number;
  content: Buffer;
  /** The complete encoding: tag, length and content. */
  whole: Buffer;
};

/** Decodes consecutive values. Throws `invalid_argument` if the buffer is not DER. */
export function readAll(buffer: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let rest = buffer; rest.length > 0; ) {
    const value = readFirst(rest);
    values.push(value);
    rest = rest.subarray(value.whole.length);
  }
  return values;
}

function readFirst(buffer: Buffer): DerValue {
  const [tag = 0, first = 0] = buffer;
  if ((tag & 0x1f) === 0x1f) throw malformed('tags of several bytes are not supported');
  const digits = first < 0x80 ? 0 : first & 0x7f;
  const start = 2 + digits;
  if (buffer.length < start) throw malformed('the length of a value is cut off');
  if (first === 0x80 || digits > 4) throw malformed('the length of a value is indefinite or too great');
  const length = digits === 0 ? first : buffer.readUIntBE(2, digits);
  if (digits > 0 && (length < 0x80 || buffer[2] === 0))
    throw malformed('the length of a value is not the shortest form');
  const end = start + length;
  if (buffer.length < end) throw malformed('a value is cut off');
  return { tag, content: buffer.subarray(start, end), whole: buffer.subarray(0, end) };
}

/** Returns an OBJECT IDENTIFIER in dotted form. */
export function readObjectIdentifier({ content }: DerValue): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    number = number * 0x80 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    numbers.push(number);
    number = 0;
  }
  const [head = 0, ...rest] = numbers;
  const first = Math.min(Math.floor(head / 40), 2);
  return [first, head - first * 40, ...rest].join('.');
}

const malformed = (why: string) => new PodwrightError('invalid_argument', `read DER: ${why}`);
