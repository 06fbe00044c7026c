/** String functions (cel-go, ext/strings version 2; Kubernetes 1.36). */
import { CelError, type CelList, type Value, ValueList } from '../values/values.ts';
import { elementsCost } from './lists.ts';
import { type Evaluation, type FunctionTable, overload, sizeOf, traversal, traversalOf } from './overload.ts';
import { formatted } from './text-format.ts';
import { indexOfText, lastIndexOfText, splitAt } from './text-search.ts';

const out = (index: bigint): CelError => new CelError(`index out of range: ${index}`);

/**
 * Splits a string into characters. Every two UTF-16 code units count as a step of work, because upstream's cost of these calls is 1 however
 * long the string is.
 */
const charsOf = (text: string, work: Evaluation): string[] => {
  work.spend(Math.ceil(text.length / 2));
  return [...text];
};

const once = traversalOf();
const twice = traversalOf(2);

type FromParameters = [text: string, part: string, from: bigint, work: Evaluation];

export const TEXT_FUNCTIONS: FunctionTable = {
  charAt: [
    overload('string.(int) -> string', (text: string, index: bigint, work: Evaluation) => {
      const chars = charsOf(text, work);
      if (index < 0n || index > chars.length) throw out(index);
      return chars[Number(index)] ?? '';
    }),
  ],
  lowerAscii: [
    overload('string.() -> string', (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase()), once),
  ],
  upperAscii: [
    overload('string.() -> string', (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase()), once),
  ],
  trim: [
    overload(
      'string.() -> string',
      (text: string) => text.replace(/^[\s\u0085]+/, '').replace(TRAILING_SPACE, ''),
      once,
    ),
  ],
  indexOf: [
    overload(
      'string.(string) -> int',
      (text: string, part: string, work: Evaluation) => indexOf(text, part, { from: 0n, work }),
      elementsCost,
    ),
    overload(
      'string.(string, int) -> int',
      (...[text, part, from, work]: FromParameters) => indexOf(text, part, { from, work }),
      elementsCost,
    ),
  ],
  lastIndexOf: [
    overload(
      'string.(string) -> int',
      (text: string, part: string, work: Evaluation) => {
        const { length } = charsOf(text, work);
        if (part === '') return BigInt(length);
        return length === 0 ? -1n : lastIndexOf(text, part, { from: BigInt(length - 1), work });
      },
      elementsCost,
    ),
    overload(
      'string.(string, int) -> int',
      (...[text, part, from, work]: FromParameters) => lastIndexOf(text, part, { from, work }),
      elementsCost,
    ),
  ],
  replace: [
    overload(
      'string.(string, string) -> string',
      (...[text, old, by, work]: [string, string, string, Evaluation]) =>
        replaced(text, [old, by], { limit: -1n, work }),
      twice,
    ),
    overload(
      'string.(string, string, int) -> string',
      (...[text, old, by, limit, work]: [string, string, string, bigint, Evaluation]) =>
        replaced(text, [old, by], { limit, work }),
      twice,
    ),
  ],
  split: [
    overload(
      'string.(string) -> list(string)',
      (text: string, by: string) => new ValueList(splitText(text, by)),
      twice,
    ),
    overload(
      'string.(string, int) -> list(string)',
      (text: string, by: string, limit: bigint) => new ValueList(splitText(text, by, limit)),
      twice,
    ),
  ],
  substring: [
    overload(
      'string.(int) -> string',
      (text: string, start: bigint, work: Evaluation) => {
        const chars = charsOf(text, work);
        if (start < 0n || start > chars.length) throw out(start);
        return chars.slice(Number(start)).join('');
      },
      once,
    ),
    overload('string.(int, int) -> string', substring, once),
  ],
  join: [
    overload('list(string).() -> string', (list: CelList, work: Evaluation) => joined(list, '', work), joinCost),
    overload('list(string).(string) -> string', joined, joinCost),
  ],
  format: [
    overload(
      'string.(list(dyn)) -> string',
      (text: string, list: CelList, work: Evaluation) => formatted(text, [...list], work),
      once,
    ),
  ],
  'strings.quote': [overload('(string) -> string', (text: string, work: Evaluation) => quoted(text, work))],
};

const TRAILING_SPACE = /(?<![\s\u0085])[\s\u0085]+$/;

function joinCost(_: readonly Value[], result: Value): number {
  return traversal(sizeOf(result) * 2);
}

function substring(...[text, start, end, work]: [string, bigint, bigint, Evaluation]): string {
  if (start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  const chars = charsOf(text, work);
  if (start < 0n || start > chars.length) throw out(start);
  if (end < 0n || end > chars.length) throw out(end);
  return chars.slice(Number(start), Number(end)).join('');
}

type Position = { from: bigint; work: Evaluation };

function indexOf(text: string, part: string, { from, work }: Position): bigint {
  if (part === '') return from;
  if (from < 0n) throw out(from);
  const chars = charsOf(text, work);
  if (from >= chars.length) return -1n;
  const start = chars.slice(0, Number(from)).join('').length;
  const found = indexOfText(text, part, start);
  return found < 0 ? -1n : BigInt(charsOf(text.slice(0, found), work).length);
}

function lastIndexOf(text: string, part: string, { from, work }: Position): bigint {
  if (part === '') return from;
  if (from < 0n) throw out(from);
  const chars = charsOf(text, work);
  if (from >= chars.length) return -1n;
  const start = chars.slice(0, Number(from)).join('').length;
  const found = lastIndexOfText(text, part, start);
  return found < 0 ? -1n : BigInt(charsOf(text.slice(0, found), work).length);
}

/** Splits as Go does: '' splits after every character. Returns at most `limit` parts, the last of which is the unsplit remainder. */
function splitText(text: string, by: string, limit = -1n): string[] {
  if (limit === 0n) return [];
  const parts = by === '' ? [...text] : splitAt(text, by);
  if (limit < 0n || parts.length <= limit) return parts;
  const count = Number(limit);
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(by)];
}

function replaced(
  text: string,
  [old, by]: [string, string],
  { limit, work }: { limit: bigint; work: Evaluation },
): string {
  if (limit === 0n || old === by) return text;
  const parts = old === '' ? ['', ...text, ''] : splitAt(text, old);
  const gaps = parts.length - 1;
  const count = limit < 0n || limit > gaps ? gaps : Number(limit);
  work.spend(Math.ceil((by.length * count) / 10));
  const end = parts.slice(count).join(old);
  return `${parts.slice(0, count).join(by)}${count > 0 ? by : ''}${end}`;
}

function joined(list: CelList, separator: string, work: Evaluation): string {
  const parts: string[] = [];
  for (const part of list) {
    if (typeof part !== 'string') throw new CelError('join: invalid input');
    work.spend(1 + Math.ceil((part.length + separator.length) / 10));
    parts.push(part);
  }
  return parts.join(separator);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quoted(text: string, work: Evaluation): string {
  work.spend(Math.ceil(text.length / 10));
  return `"${text.replace(/[\u0007\b\f\n\r\t\v\\"]/g, (char) => ESCAPES[char]!)}"`;
}
