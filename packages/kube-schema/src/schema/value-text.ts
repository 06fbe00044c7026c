/** Times and durations in JSON, in the text formats of metav1.Time, metav1.MicroTime and metav1.Duration. */

/** Go's zero time, January 1 of year 1. It is `null` in JSON and an empty message in protobuf. */
const ZERO_SECONDS = -62_135_596_800n;

const NANOS_PER_SECOND = 1_000_000_000n;
const LAST_YEAR_SECONDS = 253_402_300_799n;

export type Timestamp = { seconds: bigint; nanos: number };

/**
 * Formats a time as RFC 3339 with `digits` fractional digits. Returns `null` for Go's zero time and `undefined` for a year that does not
 * have four digits.
 */
export function formatTimestamp({ seconds, nanos }: Timestamp, digits: 0 | 6): string | null | undefined {
  if (seconds === ZERO_SECONDS && nanos === 0) return null;
  if (seconds < ZERO_SECONDS || seconds > LAST_YEAR_SECONDS) return undefined;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${text}Z` : `${text}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}

const RFC_3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)$/;

/** Parses an RFC 3339 time. Returns `undefined` if the text is not a valid time. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const [, whole, fraction = '', zone] = RFC_3339.exec(text) ?? [];
  const ms = Date.parse(`${whole}${zone}`);
  if (whole === undefined || Number.isNaN(ms)) return undefined;
  return { seconds: BigInt(ms / 1000), nanos: Number(fraction.padEnd(9, '0')) };
}

const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  '\u03bcs': 1000n,
  ms: 1_000_000n,
  s: NANOS_PER_SECOND,
  m: 60n * NANOS_PER_SECOND,
  h: 3600n * NANOS_PER_SECOND,
};
const MAX_DURATION_LENGTH = 100;

/**
 * Parses a duration in Go's format, such as `1h30m`, to nanoseconds. Returns `undefined` if it is not a duration or does not fit in 64
 * bits.
 */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > MAX_DURATION_LENGTH) return undefined;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0n;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|\u03bcs|ms|s|m|h))+$/.test(rest)) return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of rest.matchAll(/(\d*)(?:\.(\d*))?([a-zµ\u03bc]+)/g))
    nanos += (BigInt(`${whole}${fraction}` || '0') * UNITS[unit]!) / 10n ** BigInt(fraction.length);
  const signed = sign === '-' ? -nanos : nanos;
  return BigInt.asIntN(64, signed) === signed ? signed : undefined;
}

/** Formats a duration as Go does: `1h0m0s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size === 0n) return '0s';
  for (const unit of ['ns', 'µs', 'ms'])
    if (size < UNITS[unit]! * 1000n) return `${sign}${decimal(size, UNITS[unit]!)}${unit}`;
  const [hours, minutes] = [size / UNITS.h!, (size / UNITS.m!) % 60n];
  const larger = hours > 0n ? `${hours}h${minutes}m` : minutes > 0n ? `${minutes}m` : '';
  return `${sign}${larger}${decimal(size % UNITS.m!, NANOS_PER_SECOND)}s`;
}

/** Formats `size / unit` as a decimal number without trailing zeros. */
function decimal(size: bigint, unit: bigint): string {
  const digits = String(size % unit)
    .padStart(String(unit).length - 1, '0')
    .replace(/0+$/, '');
  return digits === '' ? String(size / unit) : `${size / unit}.${digits}`;
}
