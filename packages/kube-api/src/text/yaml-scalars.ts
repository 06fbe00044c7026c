/** The value of an unquoted scalar. */
export type PlainValue = string | number | boolean | null;

const KEYWORDS = new Map<string, PlainValue>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const FRACTION = /^\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?$/;
const MAX_UNSIGNED = 2n ** 64n - 1n;
const MAX_SIGNED = 2n ** 63n;
/**
 * Maximum length of a number. Longer texts are treated as strings: a float can have up to about 770 significant digits, but real manifests
 * do not contain such numbers.
 */
const MAX_NUMBER_LENGTH = 100;

/**
 * Returns the value of an unquoted scalar in Kubernetes, which uses go-yaml 2: it recognizes YAML 1.1 booleans, octal numbers with a
 * leading 0, and underscores in numbers, but treats sexagesimal numbers and timestamps as strings.
 */
export function plainValue(text: string): PlainValue {
  const keyword = KEYWORDS.get(text);
  if (keyword !== undefined) return keyword;
  if (text.length > MAX_NUMBER_LENGTH || !/^[-+.0-9]/.test(text)) return text;
  const digits = text.replaceAll('_', '');
  if (text.startsWith('.')) return FRACTION.test(text) ? finite(digits, text) : text;
  return integerOf(digits) ?? (FLOAT.test(digits) ? finite(digits, text) : text);
}

/** Returns the name of an unquoted key: `yes` becomes `true`, `0x10` becomes `16`. Returns `undefined` for null. */
export function plainKey(text: string): string | undefined {
  const value = plainValue(text);
  return value === null ? undefined : String(value);
}

/** Parses a 64-bit integer. Returns `undefined` for anything else, including larger decimal numbers, which might still be floats. */
function integerOf(digits: string): number | undefined {
  const match = INTEGER.exec(digits);
  if (match === null) return undefined;
  const [, sign, magnitude = ''] = match;
  const prefixed = /^0[0-7]/.test(magnitude) ? `0o${magnitude.slice(1)}` : magnitude;
  const amount = BigInt(prefixed);
  if (amount > (sign === '' ? MAX_UNSIGNED : MAX_SIGNED)) return undefined;
  return sign === '-' ? -Number(amount) : Number(amount);
}

/** Returns the parsed number, or the text if the number is too large. */
function finite(digits: string, text: string): number | string {
  const number = Number(digits);
  return Number.isFinite(number) ? number : text;
}
