/** Function declarations. */
import { type Signature, signature } from '../types/signatures.ts';
import type { CelType } from '../types/types.ts';
import type { Work } from '../values/comparison.ts';
import {
  CelList,
  CelMap,
  charactersOf,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values/values.ts';

/** The meter of an evaluation, which functions use to bound their work. */
export type Evaluation = Work & {
  /** Number of steps left until the evaluation exceeds its limit. */
  readonly remaining: number;
  /** Returns the number of characters of a string. */
  characters: (text: string) => number;
};

// biome-ignore lint/suspicious/noExplicitAny: the types of parameters are those of the signature, which is checked before each call
export type Implementation = (...parameters: any[]) => Value;

/** Returns the cost of a call, given its arguments and its result. */
export type CallCost = (parameters: readonly Value[], result: Value) => number;

/** One signature of a function, with its implementation. `run` receives the arguments, followed by the `Evaluation`. */
export type Overload = Signature & { readonly run: Implementation; readonly cost?: CallCost };

/** Functions by name, each with its overloads in upstream's order. */
export type FunctionTable = Readonly<Record<string, readonly Overload[]>>;

/** Declares an overload. `text` is its signature, such as `string.(int) -> string`; the default cost is 1. */
export const overload = (text: string, run: Implementation, cost?: CallCost): Overload => ({
  ...signature(text),
  run,
  ...(cost === undefined ? {} : { cost }),
});

/** Whether a value can be passed for a parameter of this type. Element types are not checked. */
export function hasType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true;
    case 'null':
      return value === null;
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint';
    case 'uint':
      return value instanceof Uint;
    case 'double':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'list':
      return value instanceof CelList;
    case 'map':
    case 'object':
      return value instanceof CelMap;
    case 'type':
      return value instanceof TypeValue;
    case 'opaque':
      if (type.name === 'optional_type') return value instanceof Optional;
      return value instanceof Opaque && value.typeName === type.name;
  }
}

/** The cost of reading one character, byte or element (cel-go, StringTraversalCostFactor). */
const CHARACTER = 0.1;
/** The cost factor for each character of a regular expression (cel-go, RegexStringLengthCostFactor). */
const PATTERN_CHARACTER = 0.25;
/** The cost of creating a list (cel-go, ListCreateBaseCost) and of creating a map (MapCreateBaseCost). */
export const LIST_COST = 10;
export const MAP_COST = 30;

/** Returns the size of a value for cost purposes: the number of characters, bytes or elements; 1 for all other values. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return charactersOf(value);
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Opaque) return value.sizeForCost;
  return value instanceof Optional && value.value !== undefined ? sizeOf(value.value) : 1;
}

/** Returns the cost of reading values whose sizes add up to `size`. */
export const traversal = (size: number): number => Math.ceil(size * CHARACTER);

/** Returns the cost of reading a call's first argument `times` times. */
export const traversalOf =
  (times = 1): CallCost =>
  ([value]) =>
    traversal(sizeOf(value!) * times);

/** The cost of comparing two values, which is that of reading the smaller one. */
export const comparisonCost: CallCost = ([one, other]) => {
  if (typeof one === 'string' && typeof other === 'string')
    return traversal(charactersOf(one.length < other.length ? one : other));
  return traversal(Math.min(sizeOf(one!), sizeOf(other!)));
};

/** The cost of matching a string against a pattern. */
export const patternCost: CallCost = ([text, pattern]) =>
  traversal(1 + sizeOf(text!)) * Math.ceil(sizeOf(pattern!) * PATTERN_CHARACTER);

/** Returns the cost of matching a string against a pattern of this many characters. */
export const patternCostOf = (text: Value, length: number): number =>
  traversal(1 + sizeOf(text)) * Math.ceil(length * PATTERN_CHARACTER);

/** Placeholder implementation of functions that the evaluator handles itself, for example because it may skip an argument. */
export function notCalled(): Value {
  throw new Error('a function that the evaluator handles itself was called');
}
