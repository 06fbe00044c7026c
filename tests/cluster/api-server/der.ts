/** The part of DER (X.690) for certificates: encodes values, and parses a tree of them. */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** A context-specific tag `[n]`; constructed unless it is for a primitive value. */
export const contextTag = (number: number, isConstructed = true): number => (isConstructed ? 0xa0 : 0x80) | number;

export function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(value.length), value]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits = Buffer.from(length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}

export const sequence = (...content: Buffer[]): Buffer => der(TAG.sequence, ...content);

/** A positive integer from big-endian bytes. */
export function integer(bytes: Buffer): Buffer {
  return der(TAG.integer, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

export const bitString = (bytes: Buffer, unusedBits = 0): Buffer =>
  der(TAG.bitString, Buffer.from([unusedBits]), bytes);

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number & 0x7f];
    for (let left = number >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(TAG.objectIdentifier, Buffer.from(bytes));
}

/** Times before 2050 have two digits of the year (RFC 5280, 4.1.2.5). */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`;
  const isShort = date.getUTCFullYear() < 2050;
  return der(isShort ? TAG.utcTime : TAG.generalizedTime, Buffer.from(isShort ? digits.slice(2) : digits));
}

export type DerValue = { tag: number; content: Buffer; whole: Buffer };

/** The consecutive values in a buffer. */
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
  const digits = first & 0x80 ? first & 0x7f : 0;
  if (buffer.length < 2 + digits || digits > 4) throw new Error('not DER: the length of a value is truncated');
  const length = digits === 0 ? first : buffer.readUIntBE(2, digits);
  const begin = 2 + digits;
  if (buffer.length < begin + length) throw new Error('not DER: a value is truncated');
  return { tag, content: buffer.subarray(begin, begin + length), whole: buffer.subarray(0, begin + length) };
}

export function readObjectIdentifier({ content }: DerValue): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  const [first = 0, ...rest] = numbers;
  return [Math.min(Math.floor(first / 40), 2), first - Math.min(Math.floor(first / 40), 2) * 40, ...rest].join('.');
}
