/** A bounded map. When it is full, the least recently set entry is dropped. */
export class RecentlyUsed<V> {
  readonly #values = new Map<string, V>();
  readonly #maxSize: number;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** Iterates over the entries, least recently set first. */
  entries(): MapIterator<[string, V]> {
    return this.#values.entries();
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#maxSize) this.#values.delete(this.#values.keys().next().value!);
  }
}
