import { PodwrightError } from '@podwright/base';

const NANOS_PER_UNIT = 1_000_000_000n;
/** Maximum quantity, in nano-units: Kubernetes caps quantities at the largest int64. */
const MAX_NANOS = (2n ** 63n - 1n) * NANOS_PER_UNIT;

/** Multiplier of each suffix, as numerator and denominator. */
const SUFFIXES: Record<string, readonly [bigint, bigint]> = {
  n: [1n, 1_000_000_000n],
  u: [1n, 1_000_000n],
  m: [1n, 1000n],
  '': [1n, 1n],
  k: [1000n, 1n],
  M: [10n ** 6n, 1n],
  G: [10n ** 9n, 1n],
  T: [10n ** 12n, 1n],
  P: [10n ** 15n, 1n],
  E: [10n ** 18n, 1n],
  Ki: [2n ** 10n, 1n],
  Mi: [2n ** 20n, 1n],
  Gi: [2n ** 30n, 1n],
  Ti: [2n ** 40n, 1n],
  Pi: [2n ** 50n, 1n],
  Ei: [2n ** 60n, 1n],
};

/** A quantity in nano-units, the finest resolution supported by Kubernetes. */
export type Quantity = { nanos: bigint };

// limit the number of digits, to keep parsing cheap for malicious input like `1e999999999`
const pattern = /^([+-]?)(\d{0,64})(?:\.(\d{0,64}))?(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)$/;

/** Whether `parseQuantity` accepts `text`. */
export function isQuantity(text: string): boolean {
  const match = pattern.exec(text);
  return match !== null && (match[2] !== '' || (match[3] ?? '') !== '');
}

/**
 * Parses a quantity such as `500m`, `1.5Gi`, `12e6` or `3`. As in Kubernetes, fractions of a nano-unit are rounded away from zero, and
 * quantities beyond int64 are capped. Throws `invalid_argument` if the text is malformed.
 */
export function parseQuantity(text: string): Quantity {
  const match = pattern.exec(text);
  if (match === null || !isQuantity(text)) {
    throw new PodwrightError(
      'invalid_argument',
      `parse quantity "${text}": not a number with a suffix such as 500m, 2, 64Mi or 1G`,
    );
  }
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match;
  const mantissa = BigInt(`${whole}${fraction}`);
  const [up, down] = exponent === undefined ? SUFFIXES[suffix]! : powerOfTen(Number(exponent));
  const magnitude = divideUp(mantissa * up * NANOS_PER_UNIT, down * 10n ** BigInt(fraction.length));
  const capped = magnitude > MAX_NANOS ? MAX_NANOS : magnitude;
  return { nanos: sign === '-' ? -capped : capped };
}

function powerOfTen(exponent: number): readonly [bigint, bigint] {
  const power = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0 ? [1n, power] : [power, 1n];
}

/** Returns `a / b`, rounded away from zero; `b` must be positive. */
function divideUp(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  if (quotient * b === a) return quotient;
  return a < 0n ? quotient - 1n : quotient + 1n;
}

/** Returns a quantity in whole units, such as bytes or cores, rounded up. */
export function quantityValue(text: string): bigint {
  return divideUp(parseQuantity(text).nanos, NANOS_PER_UNIT);
}

/** Returns a quantity in milli-units, such as millicores, rounded up. */
export function quantityMilliValue(text: string): bigint {
  return divideUp(parseQuantity(text).nanos, 1_000_000n);
}

/** Rounds a quantity up to milli-units. Returns the text unchanged if no rounding is needed. */
export function roundUpToMilli(text: string): string {
  const { nanos } = parseQuantity(text);
  return nanos % 1_000_000n === 0n ? text : formatQuantity(quantityMilliValue(text) * 1_000_000n, text);
}

/** Returns `text` divided by `divisor` for `resourceFieldRef`, rounded up to an integer. A divisor of 0 is treated as 1. */
export function quantityInUnitsOf(text: string, divisor: string): bigint {
  const unit = parseQuantity(divisor).nanos;
  return divideUp(parseQuantity(text).nanos, unit === 0n ? NANOS_PER_UNIT : unit);
}

/** Returns a negative number, 0 or a positive number if `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: string, b: string): number {
  const difference = parseQuantity(a).nanos - parseQuantity(b).nanos;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/**
 * Formats a quantity in nano-units in Kubernetes' canonical form, with the largest suffix that avoids a fraction. The suffix is binary or
 * decimal, as in the quantity `like`.
 */
export function formatQuantity(nanos: bigint, like: string): string {
  const isBinary = like.endsWith('i') && nanos % NANOS_PER_UNIT === 0n;
  const [suffixes, step] = isBinary ? [BINARY, 1024n] : [DECIMAL, 1000n];
  let mantissa = isBinary ? nanos / NANOS_PER_UNIT : nanos;
  let power = 0;
  while (mantissa !== 0n && mantissa % step === 0n && power < suffixes.length - 1) {
    mantissa /= step;
    power++;
  }
  return mantissa === 0n ? '0' : `${mantissa}${suffixes[power]}`;
}
