import { PodwrightError } from '@podwright/base';

/** Builds an `invalid_argument` error whose message names the field and its value. */
export function invalid(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', message);
}

/** Rejects text that contains NUL bytes: the kernel would silently truncate it at the first NUL. */
export function plainText(field: string, text: string): string {
  if (text.includes('\0')) throw invalid(`${field} ${JSON.stringify(text)} has a zero byte`);
  return text;
}

export function absolutePath(field: string, path: string): string {
  if (path.startsWith('/')) return plainText(field, path);
  throw invalid(`${field} "${path}" is not an absolute path`);
}

/**
 * Rejects an empty ID (`invalid_argument`) in calls such as removals, which would otherwise succeed because there is no object with that
 * ID.
 */
export function givenId(attempted: string, id: string): string {
  if (id !== '') return id;
  throw invalid(`${attempted}: the request has no id`);
}

/** Whether the labels contain every label of the selector. */
export function matchesLabels(labels: Record<string, string>, selector: Record<string, string>): boolean {
  return Object.entries(selector).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}

/** Converts an integer field to a JavaScript number, which must be between `minimum` and `maximum`. */
export function numberWithin(
  field: string,
  value: bigint | undefined,
  { minimum, maximum = Number.MAX_SAFE_INTEGER }: { minimum: number; maximum?: number },
): number {
  const number = Number(value ?? 0n);
  if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number;
  throw invalid(`${field} ${value} is out of range`);
}

/** Converts a user or group ID. Linux IDs have 32 bits, and the highest value means "no ID". */
export function idOf(field: string, value: bigint): number {
  if (value < 0n || value >= 0xffffffffn) throw invalid(`${field} ${value} is not an id`);
  return Number(value);
}
