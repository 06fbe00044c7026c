import { isRecord, PodwrightError } from '@podwright/base';
import * as z from 'zod';
import { MAX_JSON_VALUES } from '../limits.ts';

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** The bytes `,`, `[` and `{`, one of which precedes each JSON value except the first. */
const VALUE_STARTS = new Set([0x2c, 0x5b, 0x7b]);

/** A JSON value that Go decodes into a string, with null becoming the empty string. Accepted because most image tools are written in Go. */
type GoText = string | null;

/** Schema for a list of at most `most` strings. All errors are reported as one, because a hostile list may have millions. */
export function stringList(most: number): z.ZodType<string[]> {
  const isList = (value: unknown) => Array.isArray(value) && value.length <= most && value.every(isGoText);
  return z
    .custom<GoText[]>(isList, `is not a list of at most ${most} strings`)
    .transform((list) => list.map((entry) => entry ?? ''));
}

/** Schema for a map of at most `most` string values. All errors are reported as one, as in `stringList`. */
export function stringMap(most: number): z.ZodType<Record<string, string>> {
  const isMap = (value: unknown) => isObject(value, most) && Object.values(value).every(isGoText);
  return z
    .custom<Record<string, GoText>>(isMap, `is not a map of at most ${most} strings`)
    .transform((map) => Object.fromEntries(Object.entries(map).map(([key, entry]) => [key, entry ?? ''])));
}

/** Schema for a string that defaults to `absent` if missing or null. */
export function textOr(absent: string): z.ZodType<string> {
  return z
    .string()
    .nullish()
    .transform((text) => text ?? absent);
}

const isGoText = (value: unknown): value is GoText => typeof value === 'string' || value === null;

/** Schema for an object with at most `most` keys, whose values are ignored. */
export function keySet(most: number): z.ZodType<Record<string, object>, Record<string, unknown>> {
  return z
    .custom<Record<string, unknown>>((value) => isObject(value, most), `is not a map of at most ${most} names`)
    .transform((map) => Object.fromEntries(Object.keys(map).map((key) => [key, {}])));
}

/** Schema for a list of at most `most` entries. The length is checked before any entry is decoded. */
export function boundedList<T>(entry: z.ZodType<T>, most: number): z.ZodType<T[]> {
  return z.array(z.unknown()).max(most).pipe(z.array(entry));
}

function isObject(value: unknown, most: number): value is Record<string, unknown> {
  return isRecord(value) && Object.keys(value).length <= most;
}

/** Decodes JSON with a schema. Throws `invalid_argument`; the message starts with `what` and contains the paths of the first errors. */
export function decode<T>(schema: z.ZodType<T>, data: Uint8Array, what: string): T {
  if (hasManyValues(data))
    throw new PodwrightError('invalid_argument', `${what}: more than ${MAX_JSON_VALUES} JSON values`);
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(data).toString('utf8'));
  } catch (error) {
    throw new PodwrightError('invalid_argument', `${what}: not JSON${positionOf(error)}`);
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new PodwrightError('invalid_argument', `${what}: ${errors.join('; ')}`);
}

/**
 * Returns the position of a syntax error if the parser's message has one. The message itself must not be shown, because it quotes the
 * document, which may be confidential: a redirect or symbolic link might have led to a document that the reader of the error is not allowed
 * to see.
 */
function positionOf(error: unknown): string {
  return /at position \d+/.exec((error as Error).message)?.[0].replace('at', ' at') ?? '';
}

/** Whether there are more than `MAX_JSON_VALUES` JSON values. Counts them without parsing. */
function hasManyValues(data: Uint8Array): boolean {
  let values = 1;
  let isString = false;
  for (let index = 0; index < data.length && values <= MAX_JSON_VALUES; index++) {
    const byte = data[index]!;
    if (byte === QUOTE) isString = !isString;
    else if (isString) index += byte === BACKSLASH ? 1 : 0;
    else if (VALUE_STARTS.has(byte)) values++;
  }
  return values > MAX_JSON_VALUES;
}
