/** Values of expressions. */

/**
 * Integers are bigints and doubles are numbers, so that the type of each value is known. JSON values are converted when an expression reads
 * them.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | CelList
  | CelMap
  | Optional
  | TypeValue
  | Opaque;

/** An evaluation error, with cel-go's message. Logical operators and loops can absorb it. */
export class CelError extends Error {}

const NO_OVERLOAD = 'no such overload';
export const noOverload = (): CelError => new CelError(NO_OVERLOAD);

/** A 64-bit unsigned integer. */
export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A point in time with nanosecond precision. */
export class Timestamp {
  /** Nanoseconds since the Unix epoch. */
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** A duration with nanosecond precision. */
export class Duration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** How a list in an API object is compared and concatenated (`x-kubernetes-list-type`). */
export type ListMode = 'atomic' | 'set' | { readonly keys: readonly string[] };

/** A list. Subclasses determine where its elements come from. */
export abstract class CelList implements Iterable<Value> {
  abstract readonly size: number;
  readonly mode: ListMode = 'atomic';
  /** Returns the element at an index, which must be less than the size. */
  abstract at(index: number): Value;

  *[Symbol.iterator](): Iterator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }
}

/** A map, message or object. Subclasses determine where its entries come from. */
export abstract class CelMap {
  abstract readonly size: number;
  abstract get(key: Value): Value | undefined;
  /** Returns all keys, including those of an object's null fields, for which `get` returns `undefined`. */
  abstract keys(): Iterable<Value>;

  /** Returns an object's fields that expressions cannot read but that count for equality. */
  hidden(): CelMap | undefined {
    return undefined;
  }

  /** Yields the entries. Throws `CelError` for a null field of an object, which has no value. */
  *entries(): Generator<readonly [Value, Value]> {
    for (const key of this.keys()) {
      const value = this.get(key);
      if (value === undefined) throw new CelError(`no such key: ${String(key)}`);
      yield [key, value];
    }
  }
}

/** An optional value; `undefined` means no value. */
export class Optional {
  readonly value: Value | undefined;

  constructor(value?: Value) {
    this.value = value;
  }
}

/** Creates an optional value; `undefined` means no value. */
export const optional = (value: Value | undefined): Optional => new Optional(value);

/** A type used as a value, such as the result of `type(1)`. */
export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value of an opaque type that has its own functions, such as a quantity. */
export abstract class Opaque {
  abstract readonly typeName: string;
  abstract equals(other: Opaque): boolean;
  /** The size that determines the cost of comparing the value. */
  readonly sizeForCost: number = 1;
}

/** An in-memory list of values. */
export class ValueList extends CelList {
  readonly #values: readonly Value[];

  constructor(values: readonly Value[]) {
    super();
    this.#values = values;
  }

  get size(): number {
    return this.#values.length;
  }

  at(index: number): Value {
    return this.#values[index]!;
  }
}

/** The concatenation of two lists, without copying them. Concatenations are nested no deeper than in the expression. */
export class ConcatList extends CelList {
  readonly size: number;
  readonly #first: CelList;
  readonly #second: CelList;

  constructor(first: CelList, second: CelList) {
    super();
    this.size = first.size + second.size;
    this.#first = first;
    this.#second = second;
  }

  at(index: number): Value {
    return index < this.#first.size ? this.#first.at(index) : this.#second.at(index - this.#first.size);
  }
}

/** A map whose keys may have different types. Equal numbers are the same key even if their types differ. */
export class ValueMap extends CelMap {
  readonly #entries: ReadonlyMap<unknown, readonly [Value, Value]>;

  constructor(entries: ReadonlyMap<unknown, readonly [Value, Value]>) {
    super();
    this.#entries = entries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(mapKey(key))?.[1];
  }

  *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }
}

/** A message created by an expression, such as `Object.spec{replicas: 1}`: a map keyed by field name. */
export class Message extends ValueMap {
  readonly typeName: string;

  constructor(typeName: string, fields: ReadonlyMap<unknown, readonly [Value, Value]>) {
    super(fields);
    this.typeName = typeName;
  }
}

/** Returns the JavaScript map key for a CEL key; `undefined` for values that cannot be keys. */
export function mapKey(key: Value): string | bigint | boolean | undefined {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key;
  if (key instanceof Uint) return key.value;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : undefined;
}

/** Returns the name of a value's type. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
  }
  if (value === null) return 'null_type';
  if (value instanceof Message) return value.typeName;
  if (value instanceof CelMap) return 'map';
  if (value instanceof CelList) return 'list';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof Opaque) return value.typeName;
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  return value instanceof Duration ? 'google.protobuf.Duration' : 'type';
}

/** Returns the number of characters (code points) in a string. */
export function charactersOf(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count--;
  return count;
}
