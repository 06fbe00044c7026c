/**
 * Path elements in `managedFields` (structured-merge-diff, fieldpath): `f:NAME` for a field, `k:{…}` for a list element identified by its
 * keys, `v:VALUE` for a set element, `i:INDEX` for a list index. Equal path elements are equal strings, because keys are sorted and the
 * JSON contains no spaces.
 */
import { PodwrightError } from '@podwright/base';
import { isJsonObject, type JsonObject } from '../json.ts';

export type PathElement = string;

export const fieldElement = (name: string): PathElement => `f:${name}`;

export const valueElement = (value: unknown): PathElement => `v:${JSON.stringify(value)}`;

export function keyElement(keys: JsonObject): PathElement {
  const sorted = Object.entries(keys).sort(([one], [other]) => compare(one, other));
  return `k:{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
}

/** Normalizes a path element written by a client. Throws `invalid_argument`. */
export function normalElement(text: string): PathElement {
  const content = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
      return text;
    case 'v:':
      return valueElement(parse(content, text));
    case 'k:': {
      const keys = parse(content, text);
      if (isJsonObject(keys)) return keyElement(keys);
      break;
    }
    case 'i:':
      if (/^-?\d{1,15}$/.test(content)) return `i:${Number(content)}`;
      break;
  }
  throw malformed(text);
}

function parse(content: string, text: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw malformed(text);
  }
}

const malformed = (text: string) =>
  new PodwrightError('invalid_argument', `unknown path element type: ${JSON.stringify(text.slice(0, 200))}`);

/** Formats a path for messages: `.spec.containers[name="a"].ports[containerPort=80,protocol="TCP"]`. */
export function formatElements(path: readonly PathElement[]): string {
  return path.map(formatElement).join('');
}

function formatElement(element: PathElement): string {
  const content = element.slice(2);
  if (element.startsWith('f:')) return `.${content}`;
  if (element.startsWith('v:')) return `[=${content}]`;
  if (element.startsWith('i:')) return `[${content}]`;
  const keys = Object.entries(JSON.parse(content) as JsonObject);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join()}]`;
}

const KINDS = 'fkvi';

/** Returns the path elements in the order used by upstream to write and report them. Parses each value only once. */
export function sortedElements(elements: Iterable<PathElement>): PathElement[] {
  const all = [...elements];
  if (all.every((element) => element[0] === 'f')) return all.sort();
  const parsed = all.map((element): Parsed => [element, element[0] === 'f' ? '' : JSON.parse(element.slice(2))]);
  return parsed.sort(compareElements).map(([element]) => element);
}

type Parsed = readonly [element: PathElement, value: unknown];

function compareElements([one, oneValue]: Parsed, [other, otherValue]: Parsed): number {
  if (one[0] !== other[0]) return KINDS.indexOf(one[0]!) - KINDS.indexOf(other[0]!);
  return one[0] === 'f' ? compare(one, other) : compareValues(oneValue, otherValue);
}

/** Numbers sort before strings, and strings before booleans. Objects are compared key by key. */
function compareValues(one: unknown, other: unknown): number {
  if (!isJsonObject(one) || !isJsonObject(other)) {
    const types = ['number', 'string', 'boolean'];
    if (typeof one !== typeof other) return types.indexOf(typeof one) - types.indexOf(typeof other);
    return compare(one as string, other as string);
  }
  const [left, right] = [Object.entries(one), Object.entries(other)];
  for (const [index, [name, value]] of left.entries()) {
    const rival = right[index];
    if (rival === undefined) return 1;
    const order = compare(name, rival[0]) || compareValues(value, rival[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const compare = <T extends string | number>(one: T, other: T): number => (one < other ? -1 : one > other ? 1 : 0);
