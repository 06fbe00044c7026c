/** Go's duration units in milliseconds. */
const UNITS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
/** Maximum duration in milliseconds, because Go's durations are 64-bit nanoseconds. */
const MAX_MS = 2 ** 63 / 1e6;
const MAX_LENGTH = 100;

/** Parses a Go duration, such as `1h30m`, `1.5s`, `-300ms` or `0`, into milliseconds. Returns `undefined` if it is invalid. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|\u03bcs|ms|s|m|h))+$/.test(rest)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of rest.matchAll(/([\d.]+)([a-zµ\u03bc]+)/g)) totalMs += Number(amount) * UNITS[unit!]!;
  if (totalMs >= MAX_MS) return undefined;
  return sign === '-' ? -totalMs : totalMs;
}
