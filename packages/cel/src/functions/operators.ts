/** Operators (CEL specification, "Standard Definitions"). Those that do not evaluate all of their operands are in the evaluator. */
import { compare, isEqual } from '../values/comparison.ts';
import { durationOf, timestampOf } from '../values/times.ts';
import {
  CelError,
  type CelList,
  type CelMap,
  ConcatList,
  type Duration,
  type ListMode,
  type Timestamp,
  Uint,
  type Value,
  ValueList,
} from '../values/values.ts';
import { mergedLists } from './merged-lists.ts';
import {
  comparisonCost,
  type Evaluation,
  type FunctionTable,
  notCalled,
  type Overload,
  overload,
  sizeOf,
  traversal,
} from './overload.ts';

const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** Returns a signed integer. Throws `CelError` if it does not fit in 64 bits. */
export function int(value: bigint): bigint {
  if (value > MAX_INT || value < -MAX_INT - 1n) throw new CelError('integer overflow');
  return value;
}

/** Returns an unsigned integer. Throws `CelError` if it does not fit in 64 bits. */
export function uint(value: bigint): Uint {
  if (value > MAX_UINT || value < 0n) throw new CelError('unsigned integer overflow');
  return new Uint(value);
}

const divisor = (value: bigint, problem: string): bigint => {
  if (value === 0n) throw new CelError(problem);
  return value;
};

const ADD = '_+_';
const SUBTRACT = '_-_';
const BY_ZERO = 'division by zero';
const MODULUS_BY_ZERO = 'modulus by zero';

/** Pairs of types that can be compared with `<`, `<=`, `>` and `>=`. */
const ORDERED = [
  ...['bool', 'int', 'int double', 'int uint', 'uint', 'uint double', 'uint int', 'double', 'double int'],
  ...['double uint', 'string', 'bytes', 'timestamp', 'duration'],
];

const ordered = (holds: (order: number) => boolean): Overload[] =>
  ORDERED.map((types) => {
    const [one, other = one] = types.split(' ');
    const isText = one === 'string' || one === 'bytes';
    const run = (left: Value, right: Value) => holds(compare(left, right));
    return overload(`(${one}, ${other}) -> bool`, run, isText ? comparisonCost : undefined);
  });

const joinedCost = ([one, other]: readonly Value[]): number => traversal(sizeOf(one!) + sizeOf(other!));

export const OPERATORS: FunctionTable = {
  '_?_:_': [overload('(bool, A, A) -> A', notCalled)],
  '_&&_': [overload('(bool, bool) -> bool', notCalled)],
  '_||_': [overload('(bool, bool) -> bool', notCalled)],
  '!_': [overload('(bool) -> bool', (value: boolean) => !value)],
  '@not_strictly_false': [overload('(bool) -> bool', (value: boolean) => value)],
  '_==_': [
    overload(
      '(A, A) -> bool',
      (one: Value, other: Value, work: Evaluation) => isEqual(one, other, work),
      comparisonCost,
    ),
  ],
  '_!=_': [
    overload(
      '(A, A) -> bool',
      (one: Value, other: Value, work: Evaluation) => !isEqual(one, other, work),
      comparisonCost,
    ),
  ],
  [ADD]: [
    overload(
      '(bytes, bytes) -> bytes',
      (one: Uint8Array, other: Uint8Array) => Buffer.concat([one, other]),
      joinedCost,
    ),
    overload('(double, double) -> double', (one: number, other: number) => one + other),
    overload('(duration, duration) -> duration', (one: Duration, other: Duration) =>
      durationOf(one.nanoseconds + other.nanoseconds),
    ),
    overload('(duration, timestamp) -> timestamp', (one: Duration, other: Timestamp) =>
      timestampOf(one.nanoseconds + other.nanoseconds),
    ),
    overload('(timestamp, duration) -> timestamp', (one: Timestamp, other: Duration) =>
      timestampOf(one.nanoseconds + other.nanoseconds),
    ),
    overload('(int, int) -> int', (one: bigint, other: bigint) => int(one + other)),
    overload('(list(A), list(A)) -> list(A)', concatenated),
    overload('(string, string) -> string', (one: string, other: string) => one + other, joinedCost),
    overload('(uint, uint) -> uint', (one: Uint, other: Uint) => uint(one.value + other.value)),
  ],
  '_/_': [
    overload('(double, double) -> double', (one: number, other: number) => one / other),
    overload('(int, int) -> int', (one: bigint, other: bigint) => int(one / divisor(other, BY_ZERO))),
    overload('(uint, uint) -> uint', (one: Uint, other: Uint) => uint(one.value / divisor(other.value, BY_ZERO))),
  ],
  '_%_': [
    overload('(int, int) -> int', (one: bigint, other: bigint) => modulus(one, divisor(other, MODULUS_BY_ZERO))),
    overload('(uint, uint) -> uint', (one: Uint, other: Uint) =>
      uint(one.value % divisor(other.value, MODULUS_BY_ZERO)),
    ),
  ],
  '_*_': [
    overload('(double, double) -> double', (one: number, other: number) => one * other),
    overload('(int, int) -> int', (one: bigint, other: bigint) => int(one * other)),
    overload('(uint, uint) -> uint', (one: Uint, other: Uint) => uint(one.value * other.value)),
  ],
  '-_': [
    overload('(double) -> double', (value: number) => -value),
    overload('(int) -> int', (value: bigint) => int(-value)),
  ],
  [SUBTRACT]: [
    overload('(double, double) -> double', (one: number, other: number) => one - other),
    overload('(duration, duration) -> duration', (one: Duration, other: Duration) =>
      durationOf(one.nanoseconds - other.nanoseconds),
    ),
    overload('(int, int) -> int', (one: bigint, other: bigint) => int(one - other)),
    overload('(timestamp, duration) -> timestamp', (one: Timestamp, other: Duration) =>
      timestampOf(one.nanoseconds - other.nanoseconds),
    ),
    overload('(timestamp, timestamp) -> duration', (one: Timestamp, other: Timestamp) =>
      durationOf(one.nanoseconds - other.nanoseconds),
    ),
    overload('(uint, uint) -> uint', (one: Uint, other: Uint) => uint(one.value - other.value)),
  ],
  '_<_': ordered((order) => order < 0),
  '_<=_': ordered((order) => order <= 0),
  '_>_': ordered((order) => order > 0),
  '_>=_': ordered((order) => order >= 0),
  '_[_]': [
    overload('(list(A), int) -> A', notCalled),
    overload('(map(A, B), A) -> B', notCalled),
    overload('(optional_type(list(V)), int) -> optional_type(V)', notCalled),
    overload('(optional_type(map(K, V)), K) -> optional_type(V)', notCalled),
  ],
  '_[?_]': [
    overload('(list(V), int) -> optional_type(V)', notCalled),
    overload('(optional_type(list(V)), int) -> optional_type(V)', notCalled),
    overload('(map(K, V), K) -> optional_type(V)', notCalled),
    overload('(optional_type(map(K, V)), K) -> optional_type(V)', notCalled),
  ],
  '_?._': [overload('(dyn, string) -> optional_type(V)', notCalled)],
  '@in': [
    overload(
      '(A, list(A)) -> bool',
      (value: Value, list: CelList, work: Evaluation) => {
        for (const element of list) if (isEqual(value, element, work)) return true;
        return false;
      },
      ([, list]) => sizeOf(list!),
    ),
    overload('(A, map(A, B)) -> bool', (key: Value, map: CelMap) => map.get(key) !== undefined),
  ],
};

function modulus(one: bigint, other: bigint): bigint {
  if (other === -1n && one === -MAX_INT - 1n) throw new CelError('integer overflow');
  return one % other;
}

function concatenated(one: CelList, other: CelList, work: Evaluation): CelList {
  const { mode }: { mode: ListMode } = one;
  if (mode !== 'atomic') return mergedLists(one, other, work);
  if (one.size === 0) return other;
  if (other.size === 0) return one;
  return one.size + other.size > 8 ? new ConcatList(one, other) : new ValueList([...one, ...other]);
}
