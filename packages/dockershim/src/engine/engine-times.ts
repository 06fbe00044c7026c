/** Go's zero time: the event has not occurred. */
const NEVER = '0001-01-01T00:00:00Z';

/**
 * Converts a time from the Engine (RFC 3339 with up to nine fractional digits) to nanoseconds since the epoch. Returns 0 if it is the zero
 * time or malformed.
 */
export function nanoseconds(text: string): bigint {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  if (match === null || text === NEVER) return 0n;
  const [, seconds, fraction = '', zone] = match;
  return BigInt(Date.parse(`${seconds}${zone}`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}
