import { isRecord, PodwrightError } from '@podwright/base';
import * as z from 'zod';
import { MAX_JSON_VALUES } from '../limits.ts';

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** `,`, `[` and `{`: what values come after. */
const VALUE_STARTS = new Set([0x2c, 0x5b, 0x7b]);

/** What Go, in which most tools for images are written, reads as a text: null is an empty one. */
type GoText = string | null;

/** A list of texts, at most `most`. All mistakes in it are reported as one: hostile lists have millions of them. */
export function stringList(most: number): z.ZodType<string[]> {
  const isList = (value: unknown) => Array.isArray(value) && value.length <= most && value.every(isGoText);
  return z
    .custom<GoText[]>(isList, `is no list of at most ${most} texts`)
    .transform((list) => list.map((entry) => entry ?? ''));
}

/** Texts by name, at most `most`; mistakes as in `stringList`. */
export function stringMap(most: number): z.ZodType<Record<string, string>> {
  const isMap = (value: unknown) => isObject(value, most) && Object.values(value).every(isGoText);
  return z
    .custom<Record<string, GoText>>(isMap, `is no map of at most ${most} texts`)
    .transform((map) => Object.fromEntries(Object.entries(map).map(([key, entry]) => [key, entry ?? ''])));
}

/** A text; `absent` if there is none, or null. */
export function textOr(absent: string): z.ZodType<string> {
  return z
    .string()
    .nullish()
    .transform((text) => text ?? absent);
}

const isGoText = (value: unknown): value is GoText => typeof value === 'string' || value === null;

/** An object of which only the keys matter, at most `most`. */
export function keySet(most: number): z.ZodType<Record<string, object>, Record<string, unknown>> {
  return z
    .custom<Record<string, unknown>>((value) => isObject(value, most), `is no map of at most ${most} names`)
    .transform((map) => Object.fromEntries(Object.keys(map).map((key) => [key, {}])));
}

/** A list of at most `most` entries, whose number is looked at before what they are. */
export function boundedList<T>(entry: z.ZodType<T>, most: number): z.ZodType<T[]> {
  return z.array(z.unknown()).max(most).pipe(z.array(entry));
}

function isObject(value: unknown, most: number): value is Record<string, unknown> {
  return isRecord(value) && Object.keys(value).length <= most;
}

/** Decodes JSON against a schema; the first mistakes are named by path. Throws `invalid_argument` that begins with `what`. */
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
  const mistakes = result.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new PodwrightError('invalid_argument', `${what}: ${mistakes.join('; ')}`);
}

/**
 * Where JSON is wrong, if the parser tells. Not its message, which quotes what is there: a redirect or a link may have led to a
 * document that the reader of the error must not see.
 */
function positionOf(error: unknown): string {
  return /at position \d+/.exec((error as Error).message)?.[0].replace('at', ' at') ?? '';
}

/** True if there are more values than a document may have. Counts without parsing. */
function hasManyValues(data: Uint8Array): boolean {
  let values = 1;
  let isText = false;
  for (let index = 0; index < data.length && values <= MAX_JSON_VALUES; index++) {
    const byte = data[index]!;
    if (byte === QUOTE) isText = !isText;
    else if (isText) index += byte === BACKSLASH ? 1 : 0;
    else if (VALUE_STARTS.has(byte)) values++;
  }
  return values > MAX_JSON_VALUES;
}
