/** The values of literals (CEL specification, "Numeric Values", "String and Bytes Values"). */

const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** Returns the value of an integer literal; `undefined` if it does not fit in 64 bits. */
export function intValue(text: string, isNegative: boolean): bigint | undefined {
  const value = isNegative ? -BigInt(text) : BigInt(text);
  return value > MAX_INT || value < -MAX_INT - 1n ? undefined : value;
}

/** Returns the value of an unsigned integer literal; `undefined` if it does not fit in 64 bits. */
export function uintValue(text: string): bigint | undefined {
  const value = BigInt(text.slice(0, -1));
  return value > MAX_UINT ? undefined : value;
}

/** Returns the text of a string literal, or why it is invalid. */
export function stringValue(literal: string): { text: string } | { problem: string } {
  const { body, isRaw } = unquoted(literal);
  if (isRaw) return { text: body };
  let text = '';
  for (const part of escapes(body)) {
    if (!part.startsWith('\\')) text += part;
    else {
      const code = codeOf(part);
      if (code === undefined) return { problem: 'unable to unescape string' };
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return { problem: 'invalid unicode code point' };
      text += String.fromCodePoint(code);
    }
  }
  return { text };
}

/** Returns the bytes of a literal: escape sequences are bytes, all other characters are encoded as UTF-8. */
export function bytesValue(literal: string): { bytes: Uint8Array } | { problem: string } {
  const { body, isRaw } = unquoted(literal.slice(1));
  if (isRaw) return { bytes: Buffer.from(body) };
  const parts: Uint8Array[] = [];
  for (const part of escapes(body)) {
    const isByte = part.startsWith('\\');
    const code = !isByte || /^\\[uU]/.test(part) ? undefined : codeOf(part);
    if (isByte && code === undefined) return { problem: 'unable to unescape string' };
    parts.push(code === undefined ? Buffer.from(part) : Uint8Array.of(code));
  }
  return { bytes: Buffer.concat(parts) };
}

function unquoted(literal: string): { body: string; isRaw: boolean } {
  const isRaw = /^[rR]/.test(literal);
  const quoted = (isRaw ? literal.slice(1) : literal).replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const length = /^(?:"""|''')/.test(quoted) ? 3 : 1;
  return { body: quoted.slice(length, -length), isRaw };
}

const ESCAPES = /\\(?:[xX][\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-3][0-7]{2}|[\s\S])|[^\\]+/g;

const escapes = (body: string): string[] => body.match(ESCAPES) ?? [];

const SINGLE: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 0x5c,
  "'": 0x27,
  '"': 0x22,
  '`': 0x60,
  '?': 0x3f,
};

function codeOf(sequence: string): number | undefined {
  const single = sequence.length === 2 ? SINGLE[sequence[1]!] : undefined;
  if (single !== undefined) return single;
  if (sequence.length === 2) return undefined;
  return /^\\[0-3]/.test(sequence) ? Number.parseInt(sequence.slice(1), 8) : Number.parseInt(sequence.slice(2), 16);
}
