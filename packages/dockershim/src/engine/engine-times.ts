/** Go's zero time, for an event that has not happened. */
const NEVER = '0001-01-01T00:00:00Z';

/**
 * Converts a time of the Engine (RFC 3339, up to nine digits of a second) to nanoseconds since 1970; 0 for the zero time or a malformed
 * one.
 */
export function nanoseconds(text: string): bigint {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  if (match === null || text === NEVER) return 0n;
  const [, seconds, fraction = '', zone] = match;
  return BigInt(Date.parse(`${seconds}${zone}`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}
