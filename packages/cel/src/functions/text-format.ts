/** The function `format` (cel-go, ext/formatting). */
import { doubleText, textOf } from '../values/texts.ts';
import {
  CelError,
  CelList,
  CelMap,
  Duration,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from '../values/values.ts';
import type { Evaluation } from './overload.ts';

const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 100;
const MAX_DEPTH = 100;

/**
 * Replaces the clauses of a format string, such as `%s` and `%.2f`, with the values. Throws for unknown clauses and for values of the wrong
 * type.
 */
export function formatted(text: string, values: readonly Value[], work: Evaluation): string {
  let next = 0;
  return text.replace(/%(%|(?:\.\d*)?[\s\S]?)/g, (_, clause: string) => {
    if (clause === '%') return '%';
    const value = values[next];
    if (next >= values.length) throw new CelError(`index ${next} out of range`);
    next++;
    const shown = clauseText(clause, value!, work);
    work.spend(Math.ceil(shown.length / 10));
    return shown;
  });
}

function clauseText(clause: string, value: Value, work: Evaluation): string {
  const [, digits, letter = ''] = /^(?:\.(\d*))?([\s\S]?)$/.exec(clause)!;
  const precision = digits === undefined || digits === '' ? DEFAULT_PRECISION : Number(digits);
  if (precision > MAX_PRECISION)
    throw new CelError(`could not parse formatting clause: precision ${digits} is too large`);
  switch (letter) {
    case 's':
      return stringClause(value, work, 0);
    case 'd':
      if (typeof value === 'bigint') return String(value);
      if (value instanceof Uint) return String(value.value);
      throw wrongType('decimal clause can only be used on integers', value);
    case 'f':
    case 'e':
      return numberClause(letter, value, precision);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return integerClause(value, 2, 'only integers and bools can be formatted as binary');
    case 'o':
      return integerClause(value, 8, 'octal clause can only be used on integers');
    case 'x':
    case 'X':
      return hexClause(letter, value);
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${letter}"`);
  }
}

const wrongType = (problem: string, value: Value): CelError =>
  new CelError(`error during formatting: ${problem}, was given ${typeName(value)}`);

function integerClause(value: Value, base: number, problem: string): string {
  if (typeof value === 'bigint') return value.toString(base);
  if (value instanceof Uint) return value.value.toString(base);
  throw wrongType(problem, value);
}

function hexClause(letter: string, value: Value): string {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  const text =
    bytes instanceof Uint8Array
      ? Buffer.from(bytes).toString('hex')
      : integerClause(value, 16, 'only integers, byte buffers, and strings can be formatted as hex');
  return letter === 'X' ? text.toUpperCase() : text;
}

function numberClause(letter: 'f' | 'e', value: Value, precision: number): string {
  const special = { NaN: Number.NaN, Infinity, '-Infinity': -Infinity }[String(value)];
  const number = typeof value === 'number' ? value : typeof value === 'string' ? special : undefined;
  const name = letter === 'f' ? 'fixed-point' : 'scientific';
  if (number === undefined) throw wrongType(`${name} clause can only be used on doubles`, value);
  if (!Number.isFinite(number)) return Number.isNaN(number) ? 'NaN' : number > 0 ? '\u221e' : '-\u221e';
  if (letter === 'e') return scientific(number, precision);
  const [whole = '', fraction] = fixed(number, precision).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Formats a number with a fixed precision, rounding half to even as Go does. */
function fixed(number: number, precision: number): string {
  const scaled = Math.abs(number) * 10 ** precision;
  const isHalf = scaled < 2 ** 52 && scaled % 1 === 0.5 && scaled / 10 ** precision === Math.abs(number);
  if (!isHalf || Math.floor(scaled) % 2 === 1) return number.toFixed(precision);
  return ((Math.floor(scaled) / 10 ** precision) * Math.sign(number)).toFixed(precision);
}

/** Formats a number in scientific notation as upstream does, such as `1.5×10⁰³`. */
function scientific(number: number, precision: number): string {
  const [mantissa, exponent = '0'] = number.toExponential(precision).split('e');
  const digits = Math.abs(Number(exponent)).toString().padStart(2, '0');
  const raised = [...digits].map((digit) => '\u2070¹²³\u2074\u2075\u2076\u2077\u2078\u2079'[Number(digit)]).join('');
  return `${mantissa}×10${Number(exponent) < 0 ? '\u207b' : ''}${raised}`;
}

function stringClause(value: Value, work: Evaluation, depth: number): string {
  if (value === null) return 'null';
  if (value instanceof CelList || value instanceof CelMap) return literal(value, work, depth);
  if (value instanceof TypeValue) return value.name;
  if (typeof value === 'number') return doubleText(value);
  const text = textOf(value);
  if (text === undefined)
    throw wrongType(
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
      value,
    );
  return text;
}

/** Formats a list or map for `%s`, including the values nested in it. Throws `CelError` if the nesting is too deep. */
function literal(value: Value, work: Evaluation, depth: number): string {
  work.spend(1);
  if (depth > MAX_DEPTH) throw new CelError('error during formatting: value nests too deeply');
  if (value instanceof CelList) return `[${[...value].map((one) => literal(one, work, depth + 1)).join(', ')}]`;
  if (value instanceof CelMap) {
    const entries = [...value.entries()].map(([key, one]) => {
      const shown = literal(key, work, depth + 1);
      return [shown, `${shown}:${literal(one, work, depth + 1)}`] as const;
    });
    const sorted = entries.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    return `{${sorted.map(([, entry]) => entry).join(', ')}}`;
  }
  if (typeof value === 'string') {
    work.spend(Math.ceil(value.length / 10));
    return JSON.stringify(value);
  }
  if (typeof value === 'number')
    return Number.isFinite(value) ? value.toFixed(DEFAULT_PRECISION) : `"${doubleText(value)}"`;
  if (value instanceof Timestamp) return `timestamp("${textOf(value)}")`;
  if (value instanceof Duration) return `duration("${textOf(value)}")`;
  if (value instanceof Uint8Array) return `b${JSON.stringify(textOf(value))}`;
  return stringClause(value, work, depth);
}
