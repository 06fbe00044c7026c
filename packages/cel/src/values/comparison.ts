/** Equality and ordering of values (CEL specification, "Equality", "Ordering"). */
import {
  CelError,
  CelList,
  CelMap,
  Duration,
  noOverload,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts';

/** Counts steps of work, such as elements visited by a comparison. `spend` throws once the step limit is exceeded. */
export type Work = { spend: (steps: number) => void };

/** Whether two values are equal. Values of different types never are, except for numbers. */
export function isEqual(one: Value, other: Value, work: Work): boolean {
  work.spend(1);
  const [number, otherNumber] = [numberOf(one), numberOf(other)];
  // biome-ignore lint/suspicious/noDoubleEquals: compares integers with doubles exactly
  if (number !== undefined) return otherNumber !== undefined && number == otherNumber;
  if (one === null || typeof one !== 'object') {
    if (typeof one === 'string') work.spend(Math.ceil(one.length / 100));
    return one === other;
  }
  if (other === null || typeof other !== 'object') return false;
  if (one instanceof CelList) return other instanceof CelList && areListsEqual(one, other, work);
  if (one instanceof CelMap) return other instanceof CelMap && areMapsEqual(one, other, work);
  if (one instanceof Optional) {
    if (!(other instanceof Optional)) return false;
    if (one.value === undefined || other.value === undefined) return one.value === other.value;
    return isEqual(one.value, other.value, work);
  }
  if (one instanceof Opaque) return other instanceof Opaque && one.typeName === other.typeName && one.equals(other);
  if (one instanceof TypeValue) return other instanceof TypeValue && one.name === other.name;
  if (one instanceof Uint8Array) {
    work.spend(Math.ceil(one.length / 100));
    return other instanceof Uint8Array && Buffer.compare(one, other) === 0;
  }
  if (one instanceof Timestamp) return other instanceof Timestamp && one.nanoseconds === other.nanoseconds;
  return one instanceof Duration && other instanceof Duration && one.nanoseconds === other.nanoseconds;
}

const numberOf = (value: Value): bigint | number | undefined => {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof Uint ? value.value : undefined;
};

function areListsEqual(one: CelList, other: CelList, work: Work): boolean {
  if (one.size !== other.size) return false;
  if (one.mode !== 'atomic') return isSameSet(one, other, work);
  for (let index = 0; index < one.size; index++) if (!isEqual(one.at(index), other.at(index), work)) return false;
  return true;
}

/** Whether two lists of type `set` or `map` are equal, which means that they have the same elements in any order. */
function isSameSet(one: CelList, other: CelList, work: Work): boolean {
  const rest = [...other];
  const used = new Set<number>();
  let first = 0;
  for (const element of one) {
    // start searching at `first`: both lists usually have the same order, so that the first candidate matches
    const index = indexOfUnused(element, { rest, used, first }, work);
    if (index === undefined) return false;
    used.add(index);
    while (used.has(first)) first++;
  }
  return true;
}

function areMapsEqual(one: CelMap, other: CelMap, work: Work): boolean {
  if (one.size !== other.size) return false;
  for (const key of one.keys()) {
    const [value, otherValue] = [one.get(key), other.get(key)];
    if (value === undefined && otherValue === undefined) continue; // null fields
    if (value === undefined || otherValue === undefined || !isEqual(value, otherValue, work)) return false;
  }
  const [hidden, otherHidden] = [one.hidden(), other.hidden()];
  return hidden === undefined || otherHidden === undefined || areMapsEqual(hidden, otherHidden, work);
}

/** Returns the index of the first unused element of `rest`, at or after `first`, that equals `element`. */
function indexOfUnused(
  element: Value,
  { rest, used, first }: { rest: readonly Value[]; used: ReadonlySet<number>; first: number },
  work: Work,
): number | undefined {
  for (let index = first; index < rest.length; index++) {
    work.spend(1);
    if (!used.has(index) && isEqual(element, rest[index]!, work)) return index;
  }
  return undefined;
}

/** Compares two values: returns a negative number, 0, or a positive number. Throws for values that cannot be ordered. */
export function compare(one: Value, other: Value): number {
  const [number, otherNumber] = [numberOf(one), numberOf(other)];
  if (number !== undefined && otherNumber !== undefined) {
    if (Number.isNaN(number) || Number.isNaN(otherNumber)) throw new CelError('NaN values cannot be ordered');
    return order(number, otherNumber);
  }
  if (typeof one === 'string' && typeof other === 'string') return compareTexts(one, other);
  if (typeof one === 'boolean' && typeof other === 'boolean') return order(one, other);
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other);
  if (one instanceof Timestamp && other instanceof Timestamp) return order(one.nanoseconds, other.nanoseconds);
  if (one instanceof Duration && other instanceof Duration) return order(one.nanoseconds, other.nanoseconds);
  throw noOverload();
}

const order = <Ordered extends bigint | number | boolean>(one: Ordered, other: bigint | number | boolean): number =>
  one < other ? -1 : one > other ? 1 : 0;

/** Compares strings by code point. JavaScript's operators compare UTF-16 code units, which order surrogates differently. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const [code, otherCode] = [one.charCodeAt(index), other.charCodeAt(index)];
    if (code !== otherCode) return rank(code) - rank(otherCode);
  }
  return one.length - other.length;
}

/** Ranks surrogates above all other code units, because they encode the highest code points. */
const rank = (code: number): number => (code >= 0xd800 && code < 0xe000 ? code + 0x10000 : code);
