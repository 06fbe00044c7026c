/** A map of bounded size: what was not set for longest goes first. */
export class RecentlyUsed<V> {
  readonly #values = new Map<string, V>();
  readonly #maxSize: number;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
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
