/** 64-bit integers in texts, as Go reads and adds them. */

/** The greatest int64. */
const MAX_INT64 = 2n ** 63n - 1n;

/** Longer texts are not computed: without leading zeros, an int64 has at most 19 digits. */
const MAX_DIGITS = 19;

/** Reads a decimal int64 as `strconv.ParseInt` does. Returns the number, or Go's message if the text is not an int64. */
export function parseInt64(text: string): bigint | string {
  const failed = `strconv.ParseInt: parsing ${JSON.stringify(text)}`;
  const [, sign, digits] = /^([+-]?)0*(\d+)$/.exec(text) ?? [];
  if (digits === undefined) return `${failed}: invalid syntax`;
  const number = digits.length > MAX_DIGITS ? undefined : BigInt(`${sign === '-' ? '-' : ''}${digits}`);
  if (number === undefined || BigInt.asIntN(64, number) !== number) return `${failed}: value out of range`;
  return number;
}

/** Adds one. Like Go's int64, the greatest number is followed by the least. */
export const nextInt64 = (number: bigint): bigint => (number === MAX_INT64 ? -MAX_INT64 - 1n : number + 1n);
