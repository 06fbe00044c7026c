/** Parses and increments 64-bit integers like Go. */

const MAX_INT64 = 2n ** 63n - 1n;

/** Maximum number of digits of an int64, without leading zeros. Longer numbers are out of range. */
const MAX_DIGITS = 19;

/** Parses a decimal int64 like `strconv.ParseInt`. Returns Go's error message if the text is invalid. */
export function parseInt64(text: string): bigint | string {
  const failed = `strconv.ParseInt: parsing ${JSON.stringify(text)}`;
  const [, sign, digits] = /^([+-]?)0*(\d+)$/.exec(text) ?? [];
  if (digits === undefined) return `${failed}: invalid syntax`;
  const number = digits.length > MAX_DIGITS ? undefined : BigInt(`${sign === '-' ? '-' : ''}${digits}`);
  if (number === undefined || BigInt.asIntN(64, number) !== number) return `${failed}: value out of range`;
  return number;
}

/** Increments, wrapping around from the largest to the smallest number like Go's int64. */
export const nextInt64 = (number: bigint): bigint => (number === MAX_INT64 ? -MAX_INT64 - 1n : number + 1n);
