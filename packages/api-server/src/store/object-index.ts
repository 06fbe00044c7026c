import type { IndexValue } from './object-store.ts';
import { SortedObjects } from './sorted-objects.ts';
import type { StoredObject } from './stored-object.ts';

/** The objects of a resource by a value computed from each. */
export class ObjectIndex {
  readonly #computeValue: IndexValue;
  readonly #objects = new Map<string, SortedObjects>();
  /** The value of each object, so that a replaced object need not be decoded to find where it is. */
  readonly #values = new Map<string, string>();

  constructor(computeValue: IndexValue, objects: readonly StoredObject[]) {
    this.#computeValue = computeValue;
    for (const object of objects) this.set(object);
  }

  /** Adds an object, or replaces the one with its key. */
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

  /** The objects with a value, of a namespace or all. */
  list(value: string, namespace?: string): StoredObject[] {
    return this.#objects.get(value)?.list(namespace) ?? [];
  }

  /** Whether an object that need not be in the index has the value. */
  has(value: string, object: StoredObject): boolean {
    return this.#computeValue(object.decode()) === value;
  }
}
