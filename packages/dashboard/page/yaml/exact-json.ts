/**
 * Parses and formats JSON with exact integers. JavaScript numbers have 53 bits of precision, but integers of the API have 64 bits:
 * `JSON.parse` would change 9007199254740993 to 9007199254740992. Pure functions.
 */

/** Matches a string, or a number outside of strings. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
/** Matches an integer with so many digits that a JavaScript number might not represent it exactly. */
const LONG_INTEGER = /^-?\d{16,}$/;

/** Parses JSON. Integers that a number cannot represent exactly become BigInts. */
export function parseExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  // the mark is unguessable, so no string in the object can be mistaken for an integer
  const mark = `${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`;
  const marked = text.replace(TOKEN, (token) => (isUnsafe(token) ? `"${mark}${token}"` : token));
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

const isUnsafe = (token: string): boolean => LONG_INTEGER.test(token) && !Number.isSafeInteger(Number(token));

/** Serializes a value that may contain BigInts as JSON. Undefined fields are omitted. */
export function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => exactJson(one ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${exactJson(field)}`).join(',')}}`;
}

/** Replaces BigInts with numbers where that is exact. The YAML parser returns all integers as BigInts. */
export function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(withNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withNumbers(field)]));
}
