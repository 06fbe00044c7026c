import type { IndexValue } from './object-store.ts';
import { SortedObjects } from './sorted-objects.ts';
import type { StoredObject } from './stored-object.ts';

/** A resource's objects, indexed by a value computed from each object. */
export class ObjectIndex {
  readonly #computeValue: IndexValue;
  readonly #objects = new Map<string, SortedObjects>();
  /** Index values by object key, so that the index entry of a replaced object can be found without decoding it. */
  readonly #values = new Map<string, string>();

  constructor(computeValue: IndexValue, objects: readonly StoredObject[]) {
    this.#computeValue = computeValue;
    for (const object of objects) this.set(object);
  }

  /** Adds an object, or replaces the one with the same key. */
  set(object: StoredObject): void {
    const value = this.#computeValue(object.decode());
    if (value !== this.#values.get(object.key)) this.delete(object.key);
    if (value === undefined) return;
    this.#values.set(object.key, value);
    const same = this.#objects.get(value) ?? new SortedObjects();
    this.#objects.set(value, same);
    same.set(object);
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    const same = this.#objects.get(value)!;
    same.delete(key);
    if (same.isEmpty) this.#objects.delete(value);
  }

  /** Returns the objects with the given index value, in one namespace or all. */
  list(value: string, namespace?: string): StoredObject[] {
    return this.#objects.get(value)?.list(namespace) ?? [];
  }

  /** Whether the object has the given index value. The object itself need not be in the index. */
  has(value: string, object: StoredObject): boolean {
    return this.#computeValue(object.decode()) === value;
  }
}
