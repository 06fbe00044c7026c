/** JSON values. Elements and fields are converted lazily, when they are read. */
import { isRecord } from '@podwright/base';
import { CelList, CelMap, type ListMode, type Value } from './values.ts';

/** Converts a JSON value. */
export type JsonReader = (json: unknown) => Value;

/** Converts a JSON value that has no schema. Integral numbers become integers. */
export const fromJson: JsonReader = (json) => {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json;
  if (typeof json === 'string' || typeof json === 'boolean') return json;
  if (Array.isArray(json)) return new JsonList(json, fromJson);
  return isRecord(json) ? new JsonMap(json, fromJson) : null;
};

/** A JSON list, whose elements are converted when they are read. */
export class JsonList extends CelList {
  override readonly mode: ListMode;
  readonly #items: readonly unknown[];
  readonly #read: JsonReader;

  constructor(items: readonly unknown[], read: JsonReader, mode: ListMode = 'atomic') {
    super();
    this.mode = mode;
    this.#items = items;
    this.#read = read;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): Value {
    return this.#read(this.#items[index]);
  }
}

/** A JSON map without declared fields. Its values are converted when they are read. */
export class JsonMap extends CelMap {
  readonly #record: Readonly<Record<string, unknown>>;
  readonly #read: JsonReader;

  constructor(record: Readonly<Record<string, unknown>>, read: JsonReader) {
    super();
    this.#record = record;
    this.#read = read;
  }

  get size(): number {
    return Object.keys(this.#record).length;
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' && Object.hasOwn(this.#record, key) ? this.#read(this.#record[key]) : undefined;
  }

  keys(): Iterable<Value> {
    return Object.keys(this.#record);
  }
}

/** A declared field of an object. `name` is its name in JSON, which may differ from the one in expressions. */
export type JsonField = { readonly name: string; readonly read: JsonReader };

/**
 * An object with declared fields. Expressions cannot read undeclared fields, and null fields count as absent. Equality and `size`
 * nevertheless include undeclared and null fields, as in apiserver's unstructuredMap.
 */
export class JsonObject extends CelMap {
  readonly #record: Readonly<Record<string, unknown>>;
  readonly #fields: ReadonlyMap<string, JsonField>;

  constructor(record: Readonly<Record<string, unknown>>, fields: ReadonlyMap<string, JsonField>) {
    super();
    this.#record = record;
    this.#fields = fields;
  }

  get size(): number {
    return Object.keys(this.#record).length;
  }

  get(key: Value): Value | undefined {
    // a field named after a reserved word can also be accessed by its unescaped name
    const field = typeof key === 'string' ? (this.#fields.get(key) ?? this.#fields.get(`__${key}__`)) : undefined;
    if (field === undefined || !Object.hasOwn(this.#record, field.name)) return undefined;
    const json = this.#record[field.name];
    return json === null ? undefined : field.read(json);
  }

  *keys(): Iterable<Value> {
    for (const [key, { name }] of this.#fields) if (Object.hasOwn(this.#record, name)) yield key;
  }

  override hidden(): CelMap {
    const declared = new Set([...this.#fields.values()].map(({ name }) => name));
    const others = Object.entries(this.#record).filter(([name]) => !declared.has(name));
    return new JsonMap(Object.fromEntries(others), fromJson);
  }
}

/** Converts a value to JSON, for audit annotations and messages. Integers must be exactly representable as numbers. */
export function toJson(value: Value): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof CelList) return [...value].map(toJson);
  if (value instanceof CelMap)
    return Object.fromEntries([...value.entries()].map(([key, one]) => [String(key), toJson(one)]));
  return value;
}
