/** List functions (apiserver, pkg/cel/library/lists.go; cel-go, ext/lists version 3 and ext/sets). */
import { compare, isEqual } from '../values/comparison.ts';
import {
  CelError,
  CelList,
  CelMap,
  Duration,
  mapKey,
  noOverload,
  Optional,
  typeName,
  Uint,
  type Value,
  ValueList,
  ValueMap,
} from '../values/values.ts';
import { OPERATORS } from './operators.ts';
import {
  type CallCost,
  type Evaluation,
  type FunctionTable,
  hasType,
  LIST_COST,
  notCalled,
  overload,
  sizeOf,
} from './overload.ts';

const COMPARABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

/** Returns the cost of reading a value, including all values nested in it. */
function readCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * 0.1);
  if (value instanceof Uint8Array) return Math.floor(value.length * 0.1);
  if (value instanceof CelList) return [...value].reduce((cost: number, one) => cost + readCost(one), 0);
  if (value instanceof CelMap)
    return [...value.entries()].reduce((cost: number, [key, one]) => cost + readCost(key) + readCost(one), 0);
  return 1;
}

/** The cost of Kubernetes list functions that read all elements of the list. */
export const elementsCost: CallCost = ([list]) => readCost(list!);

/** Returns the cost of a function that returns a list of this size. */
const listCost = (size: number, factor = 1): number => Math.floor(size * factor) + 1 + LIST_COST;

const resultCost: CallCost = (_, result) => listCost(sizeOf(result));

/** Returns the cost of a function that compares the elements of a list pairwise. `index`: which argument the list is. */
const pairsCost =
  (index: number): CallCost =>
  (parameters) => {
    const list = parameters[index] as CelList;
    const first = list.size === 0 ? undefined : list.at(0);
    const isText = typeof first === 'string' || first instanceof Uint8Array;
    return listCost(list.size * list.size, isText ? 2.1 : 2);
  };

const setsCost =
  (factor: number): CallCost =>
  ([one, other]) =>
    1 + Math.floor(sizeOf(one!) * sizeOf(other!) * factor);

const isIn = (value: Value, list: Iterable<Value>, work: Evaluation): boolean => {
  for (const one of list) if (isEqual(one, value, work)) return true;
  return false;
};

const contains = (list: CelList, others: CelList, work: Evaluation): boolean =>
  [...others].every((one) => isIn(one, list, work));

export const LIST_FUNCTIONS: FunctionTable = {
  isSorted: COMPARABLE.map((type) =>
    overload(
      `list(${type}).() -> bool`,
      (list: CelList) => {
        const values = [...list];
        return values.every((value, index) => index === 0 || compare(values[index - 1]!, value) <= 0);
      },
      elementsCost,
    ),
  ),
  sum: ['int', 'uint', 'double', 'duration'].map((type) =>
    overload(
      `list(${type}).() -> ${type}`,
      (list: CelList, work: Evaluation) => sum(list, ZEROS[type]!, work),
      elementsCost,
    ),
  ),
  max: COMPARABLE.map((type) =>
    overload(
      `list(${type}).() -> ${type}`,
      (list: CelList, work: Evaluation) => extreme(list, 'max', work),
      elementsCost,
    ),
  ),
  min: COMPARABLE.map((type) =>
    overload(
      `list(${type}).() -> ${type}`,
      (list: CelList, work: Evaluation) => extreme(list, 'min', work),
      elementsCost,
    ),
  ),
  indexOf: [
    overload(
      'list(A).(A) -> int',
      (list: CelList, value: Value, work: Evaluation) =>
        BigInt([...list].findIndex((one) => isEqual(one, value, work))),
      elementsCost,
    ),
  ],
  lastIndexOf: [
    overload(
      'list(A).(A) -> int',
      (list: CelList, value: Value, work: Evaluation) =>
        BigInt([...list].findLastIndex((one) => isEqual(one, value, work))),
      elementsCost,
    ),
  ],
  slice: [overload('list(T).(int, int) -> list(T)', slice, resultCost)],
  flatten: [
    overload(
      'list(list(T)).() -> list(T)',
      (list: CelList, work: Evaluation) => new ValueList(flat(list, 1n, work)),
      ([list]) => listCost(sizeOf(list!)),
    ),
    overload(
      'list(dyn).(int) -> list(dyn)',
      (list: CelList, depth: bigint, work: Evaluation) => new ValueList(flat(list, depth, work)),
      ([list, depth]) => listCost(sizeOf(list!), Number(depth)),
    ),
  ],
  sort: COMPARABLE.map((type) =>
    overload(
      `list(${type}).() -> list(${type})`,
      (list: CelList, work: Evaluation) => sortedBy(list, list, work),
      pairsCost(0),
    ),
  ),
  '@sortByAssociatedKeys': COMPARABLE.map((type) =>
    overload(`list(T).(list(${type})) -> list(T)`, sortedBy, pairsCost(1)),
  ),
  'lists.range': [
    overload(
      '(int) -> list(int)',
      (count: bigint, work: Evaluation) => {
        work.spend(Number(count));
        return new ValueList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)));
      },
      resultCost,
    ),
  ],
  reverse: [overload('list(T).() -> list(T)', (list: CelList) => new ValueList([...list].reverse()), resultCost)],
  distinct: [
    overload(
      'list(T).() -> list(T)',
      (list: CelList, work: Evaluation) => {
        const found: Value[] = [];
        for (const one of list) if (!isIn(one, found, work)) found.push(one);
        return new ValueList(found);
      },
      pairsCost(0),
    ),
  ],
  first: [overload('list(V).() -> optional_type(V)', (list: CelList) => elementAt(list, 0))],
  last: [overload('list(V).() -> optional_type(V)', (list: CelList) => elementAt(list, list.size - 1))],
  'sets.contains': [overload('(list(T), list(T)) -> bool', contains, setsCost(1))],
  'sets.equivalent': [
    overload(
      '(list(T), list(T)) -> bool',
      (one: CelList, other: CelList, work: Evaluation) => contains(one, other, work) && contains(other, one, work),
      setsCost(2),
    ),
  ],
  'sets.intersects': [
    overload(
      '(list(T), list(T)) -> bool',
      (one: CelList, other: CelList, work: Evaluation) => [...one].some((value) => isIn(value, other, work)),
      setsCost(1),
    ),
  ],
  'cel.@mapInsert': [
    overload('(map(K, V), K, V) -> map(K, V)', notCalled),
    overload('(map(K, V), map(K, V)) -> map(K, V)', notCalled),
  ],
};

/** A map that a loop inserts into in place, which is safe because nothing else refers to it before the loop ends. */
export class GrowingMap extends ValueMap {
  readonly #growing: Map<unknown, readonly [Value, Value]>;

  constructor(entries = new Map<unknown, readonly [Value, Value]>()) {
    super(entries);
    this.#growing = entries;
  }

  /** Adds an entry. Throws `CelError` if the map already has the key. */
  insert(key: Value, value: Value): void {
    const known = mapKey(key);
    if (known === undefined) throw new CelError(`unsupported key type: ${typeName(key)}`);
    if (this.#growing.has(known)) throw new CelError(`insert failed: key ${String(known)} already exists`);
    this.#growing.set(known, [key, value]);
  }
}

const ZEROS: Readonly<Record<string, Value>> = { int: 0n, uint: new Uint(0n), double: 0, duration: new Duration(0n) };

function sum(list: CelList, zero: Value, work: Evaluation): Value {
  let total = zero;
  for (const one of list) {
    const add = OPERATORS['_+_']!.find(
      ({ parameters }) => hasType(total, parameters[0]!) && hasType(one, parameters[1]!),
    );
    if (add === undefined) throw noOverload();
    total = add.run(total, one, work);
  }
  return total;
}

/** Number of steps for comparing a value with another: one, plus one for every 100 characters of a string. */
const comparisonSteps = (value: Value): number => 1 + (typeof value === 'string' ? Math.ceil(value.length / 100) : 0);

function extreme(list: CelList, which: 'min' | 'max', work: Evaluation): Value {
  if (list.size === 0) throw new CelError(`${which} called on empty list`);
  const sign = which === 'min' ? 1 : -1;
  return [...list].reduce((found, one) => {
    work.spend(comparisonSteps(one));
    return compare(found, one) * sign > 0 ? one : found;
  });
}

function slice(list: CelList, start: bigint, end: bigint): CelList {
  const say = (problem: string) => new CelError(`cannot slice(${start}, ${end}), ${problem}`);
  if (start < 0n || end < 0n) throw say('negative indexes not supported');
  if (start > end) throw say('start index must be less than or equal to end index');
  if (end > list.size) throw say(`list is length ${list.size}`);
  const values: Value[] = [];
  for (let index = Number(start); index < Number(end); index++) values.push(list.at(index));
  return new ValueList(values);
}

function flat(list: CelList, depth: bigint, work: Evaluation): Value[] {
  if (depth < 0n) throw new CelError('level must be non-negative');
  const found: Value[] = [];
  for (const one of list) {
    work.spend(1);
    if (one instanceof CelList && depth > 0n) for (const inner of flat(one, depth - 1n, work)) found.push(inner);
    else found.push(one);
  }
  return found;
}

function sortedBy(list: CelList, keys: CelList, work: Evaluation): CelList {
  if (list.size !== keys.size) {
    const expected = 'expected a list of the same size as the associated keys list';
    throw new CelError(
      `@sortByAssociatedKeys() ${expected}, but got ${list.size} and ${keys.size} elements respectively`,
    );
  }
  const pairs = [...keys].map((key, index) => ({ key, index }));
  const type = pairs.length === 0 ? '' : typeName(pairs[0]!.key);
  if (pairs.some(({ key }) => typeName(key) !== type)) throw new CelError('list elements must have the same type');
  pairs.sort((one, other) => {
    work.spend(comparisonSteps(one.key));
    return compare(one.key, other.key);
  });
  return new ValueList(pairs.map(({ index }) => list.at(index)));
}

const elementAt = (list: CelList, index: number): Optional =>
  list.size === 0 ? new Optional() : new Optional(list.at(index));
