/** Test expressions, and the formatting of their values. */
import { kubernetesFunctions } from './functions/index.ts';
import { compile, type Outcome, type Program } from './program.ts';
import * as types from './types/types.ts';
import { fromJson } from './values/json-values.ts';
import { textOf } from './values/texts.ts';
import { CelList, CelMap, Optional, TypeValue, Uint, type Value } from './values/values.ts';

const SELF = {
  a: { b: { c: 5 } },
  l: [1, 2, 3],
  s: 'hello',
  m: { x: 1, y: 2 },
  ss: ['b', 'a'],
  f: 1.5,
  n: null,
};

const VARIABLES = {
  self: types.DYN,
  b: types.BOOL,
  i: types.INT,
  l: types.listOf(types.INT),
  m: types.mapOf(types.STRING, types.STRING),
};

/** Compiles an expression with the variables `self` (`dyn`), `b` (bool), `i` (int), `l` (list of integers) and `m` (map of strings). */
export const program = (text: string): Program =>
  compile(text, { functions: kubernetesFunctions(), variables: VARIABLES });

export const evaluated = (text: string, self: unknown = SELF): Outcome =>
  program(text).evaluate({
    self: fromJson(self),
    b: true,
    i: 3n,
    l: fromJson([1, 2, 3]),
    m: fromJson({ a: 'x', b: 'y' }),
  });

/** Evaluates an expression. Returns its value in CEL syntax, or `!` followed by the error. */
export function result(text: string): string {
  const outcome = evaluated(text);
  return 'error' in outcome ? `! ${outcome.error}` : shown(outcome.value);
}

function shown(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `b'${Buffer.from(value).toString('hex')}'`;
  if (value instanceof Uint) return `${value.value}u`;
  if (typeof value === 'number') return `double(${textOf(value)})`;
  if (value instanceof Optional) return value.value === undefined ? 'none' : `optional(${shown(value.value)})`;
  if (value instanceof CelList) return `[${[...value].map(shown).join(', ')}]`;
  if (value instanceof CelMap)
    return `{${[...value.keys()].map((key) => `${shown(key)}: ${shown(value.get(key)!)}`).join(', ')}}`;
  return value instanceof TypeValue ? value.name : (textOf(value) ?? String(value));
}
