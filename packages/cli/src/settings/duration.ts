import * as z from 'zod';

/** Schema of a Go duration, such as `30s` or `1m30s`. */
export const duration = z
  .string()
  .regex(/^(\d+(\.\d+)?(ms|s|m|h))+$/, 'must be a duration such as 30s, 1m or 1m30s')
  .refine((value) => /[1-9]/.test(value), 'must be longer than 0');

const UNITS_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Converts a valid duration to milliseconds, at least 1. */
export function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const sum = parts.reduce((total, [, amount, unit]) => total + Number(amount) * UNITS_MS[unit!]!, 0);
  return Math.max(1, Math.round(sum));
}
