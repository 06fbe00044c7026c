const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** Longest delay: one day. Node.js timers are limited to 24 days. */
const MAX_MS = 24 * 3_600_000;

/** Parses a duration such as `500ms`, `3m` or `1h30m`, or a number of seconds. Returns milliseconds, or `undefined` for any other text. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?|(?:\d+(?:\.\d+)?(?:ms|s|m|h))+)$/.test(text)) return undefined;
  const terms = [...text.matchAll(/([\d.]+)([a-z]*)/g)];
  const ms = terms.reduce((sum, [, number, unit]) => sum + Number(number) * UNIT_MS[unit || 's']!, 0);
  return ms <= MAX_MS ? ms : undefined;
}
