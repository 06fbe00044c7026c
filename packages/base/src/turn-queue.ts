/**
 * A queue whose keys take turns: `take` returns the oldest item of the key that has waited longest for its turn. An item therefore waits
 * only for the items of its own key, and for one item of each other key per turn.
 */
export class TurnQueue<T> {
  /** The items of each key, oldest first. The key whose turn is next comes first. */
  readonly #waiting = new Map<string, T[]>();
  #size = 0;

  /** Number of items of all keys. */
  get size(): number {
    return this.#size;
  }

  /** Number of items of a key. */
  sizeOf(key: string): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  add(key: string, item: T): void {
    const own = this.#waiting.get(key);
    if (own === undefined) this.#waiting.set(key, [item]);
    else own.push(item);
    this.#size++;
  }

  /** Removes and returns the next item; `undefined` if the queue is empty. */
  take(): T | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [key, own] = next;
    const item = own.shift();
    this.#waiting.delete(key);
    if (own.length > 0) this.#waiting.set(key, own); // after the other keys
    this.#size--;
    return item;
  }

  /** Removes an item of a key before its turn. Returns false if it is not in the queue. */
  remove(key: string, item: T): boolean {
    const own = this.#waiting.get(key) ?? [];
    const at = own.indexOf(item);
    if (at === -1) return false;
    own.splice(at, 1);
    if (own.length === 0) this.#waiting.delete(key);
    this.#size--;
    return true;
  }
}
