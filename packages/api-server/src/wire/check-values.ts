import { ApiError, badRequest } from '@podwright/api-machinery';

/**
 * Maximum number of JSON values in a body. Objects with more would exceed upstream's 1.5 MiB limit for a stored object and its managed
 * fields anyway.
 */
export const MAX_VALUES = 100_000;

/**
 * Throws 413 if a parsed body has too many values, which determine the time and memory needed for validation and managed fields. Throws 400
 * if a number may have been rounded (above 2^53), because clients would read back a different number than they wrote.
 */
export function checkValues(value: unknown): void {
  const waiting = [value];
  for (let count = 1; waiting.length > 0; ) {
    const next = waiting.pop();
    if (typeof next === 'number' && !(Math.abs(next) <= Number.MAX_SAFE_INTEGER)) throw inexactNumber();
    if (typeof next !== 'object' || next === null) continue;
    for (const child of Object.values(next)) {
      count += 1;
      if (count > MAX_VALUES) throw tooManyValues();
      waiting.push(child);
    }
  }
}

const inexactNumber = () =>
  badRequest(`the body has a number beyond ±${Number.MAX_SAFE_INTEGER}, which this server cannot store exactly`);

export const tooManyValues = () =>
  new ApiError(413, 'RequestEntityTooLarge', {
    message: `Request entity too large: limit is ${MAX_VALUES} values`,
  });
