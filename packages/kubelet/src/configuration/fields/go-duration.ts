/** Milliseconds of each unit of Go's durations. */
const UNITS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
/** What 64 bits of nanoseconds hold. */
const MAX_MS = 2 ** 63 / 1e6;
const MAX_LENGTH = 100;

/** Milliseconds of a duration as Go writes it, such as `1h30m`, `1.5s`, `-300ms` or `0`; `undefined` for what is none. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of rest.matchAll(/([\d.]+)([a-zµμ]+)/g)) totalMs += Number(amount) * UNITS[unit!]!;
  if (totalMs >= MAX_MS) return undefined;
  return sign === '-' ? -totalMs : totalMs;
}

/** A duration as Go prints it: `1h0m0s`, `1m30s`, `100ms`, `0s`. */
export function formatGoDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : '';
  const ms = Math.abs(milliseconds);
  if (ms === 0) return '0s';
  if (ms < 1) return `${sign}${ms * 1000}µs`;
  if (ms < 1000) return `${sign}${ms}ms`;
  const seconds = ms / 1000;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const larger = `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}`;
  return `${sign}${larger}${Number((seconds % 60).toFixed(6))}s`;
}
