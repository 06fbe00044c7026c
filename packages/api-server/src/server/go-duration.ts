const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const DURATION = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|\u03bcs|ms|s|m|h))+$/;
const PART = /(\d+\.?\d*|\.\d+)([a-zµ\u03bc]+)/g;

/** Parses a duration such as `1m30s` like Go's `time.ParseDuration`. Returns milliseconds, or `undefined` if the text is not a duration. */
export function parseGoDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (text.length > 100 || !DURATION.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(PART)) sum += Number(number) * UNITS[unit!]!;
  return text.startsWith('-') ? -sum : sum;
}
