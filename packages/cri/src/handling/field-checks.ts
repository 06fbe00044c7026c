import { PodwrightError } from '@podwright/base';

/** What a client asks for is not possible; the message names the field and its value. */
export function invalid(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', message);
}

/** The kernel takes no zero bytes in its strings: what comes after one would be lost. */
export function plainText(field: string, text: string): string {
  if (text.includes('\0')) throw invalid(`${field} ${JSON.stringify(text)} has a zero byte`);
  return text;
}

export function absolutePath(field: string, path: string): string {
  if (path.startsWith('/')) return plainText(field, path);
  throw invalid(`${field} "${path}" is not an absolute path`);
}

/**
 * The id that a call names. Calls for which a thing that is gone is a success must not take '' for one: `invalid_argument`.
 */
export function givenId(attempted: string, id: string): string {
  if (id !== '') return id;
  throw invalid(`${attempted}: the request names none`);
}

/** Whether the labels have all that the selector asks for. */
export function matchesLabels(labels: Record<string, string>, selector: Record<string, string>): boolean {
  return Object.entries(selector).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}

/** A number as JavaScript has them, from `minimum` to `maximum`. */
export function numberWithin(
  field: string,
  value: bigint | undefined,
  { minimum, maximum = Number.MAX_SAFE_INTEGER }: { minimum: number; maximum?: number },
): number {
  const number = Number(value ?? 0n);
  if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number;
  throw invalid(`${field} ${value} is out of range`);
}

/** User and group ids of Linux have 32 bits, the last one being no id. */
export function idOf(field: string, value: bigint): number {
  if (value < 0n || value >= 0xffffffffn) throw invalid(`${field} ${value} is not an id`);
  return Number(value);
}
