import { CelMap, type Value } from './values.ts';

/** Returns an object whose fields are computed on first access. */
export const lazyFields = (fields: ReadonlyMap<string, () => Value>): CelMap => new LazyFields(fields);

class LazyFields extends CelMap {
  readonly #fields: ReadonlyMap<string, () => Value>;
  readonly #known = new Map<string, Value>();

  constructor(fields: ReadonlyMap<string, () => Value>) {
    super();
    this.#fields = fields;
  }

  get size(): number {
    return this.#fields.size;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = this.#fields.get(key)?.();
    if (value !== undefined) this.#known.set(key, value);
    return value;
  }

  keys(): Iterable<Value> {
    return this.#fields.keys();
  }
}
