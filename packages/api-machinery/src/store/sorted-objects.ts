import type { StoredObject } from './stored-object.ts';

/** An array of objects sorted by key. Listing only copies references. An insertion shifts 8 bytes for each object after it. */
export class SortedObjects {
  readonly #objects: StoredObject[] = [];

  get isEmpty(): boolean {
    return this.#objects.length === 0;
  }

  get(key: string): StoredObject | undefined {
    const object = this.#objects[positionOf(this.#objects, key)];
    return object?.key === key ? object : undefined;
  }

  /** Adds an object, or replaces the one with the same key. */
  set(object: StoredObject): void {
    const position = positionOf(this.#objects, object.key);
    const isThere = this.#objects[position]?.key === object.key;
    this.#objects.splice(position, isThere ? 1 : 0, object);
  }

  delete(key: string): void {
    const position = positionOf(this.#objects, key);
    if (this.#objects[position]?.key === key) this.#objects.splice(position, 1);
  }

  /** Returns the objects in one namespace, or all objects if no namespace is given. */
  list(namespace?: string): StoredObject[] {
    if (namespace === undefined) return this.#objects.slice();
    const { first, end } = keysOfNamespace(namespace);
    return this.#objects.slice(positionOf(this.#objects, first), positionOf(this.#objects, end));
  }
}

/** Returns the number of objects with a key less than `key`. `objects` must be sorted by key. */
export function positionOf(objects: readonly StoredObject[], key: string): number {
  let low = 0;
  let high = objects.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (objects[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the lower and upper bound of keys in a namespace. `end` is the first possible key after the namespace, because `0` follows `/` in
 * ASCII.
 */
const keysOfNamespace = (namespace: string) => ({ first: `${namespace}/`, end: `${namespace}0` });
