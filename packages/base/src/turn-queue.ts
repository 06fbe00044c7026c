/** Number of keys above which keys without items are dropped when a key is added. */
const MAX_IDLE_KEYS = 1024;
/** Number of turns taken after which the list of turns is shortened. */
const MAX_TAKEN = 1024;

/**
 * A queue whose keys take turns: `take` returns the oldest item of the key that has waited longest for its turn. An item therefore waits
 * only for the items of its own key, and for one item of each other key per turn.
 *
 * Keys stay in the map for a while after their last item. If a key were added and removed with each item, V8 would replace the map's
 * storage every few items. Each replaced storage refers to the next one, so that once one of them is in the old generation, only a full
 * garbage collection could free those after it.
 */
export class TurnQueue<T> {
  /** The items of each key, oldest first. */
  readonly #items = new Map<string, T[]>();
  /** The lists of the keys that have items, in the order of their turns. The first `#taken` have had their turn. */
  #turns: T[][] = [];
  #taken = 0;
  #size = 0;

  /** Number of items of all keys. */
  get size(): number {
    return this.#size;
  }

  /** Number of items of a key. */
  sizeOf(key: string): number {
    return this.#items.get(key)?.length ?? 0;
  }

  add(key: string, item: T): void {
    const own = this.#items.get(key) ?? this.#addKey(key);
    if (own.push(item) === 1) this.#turns.push(own);
    this.#size++;
  }

  /** Removes and returns the next item; `undefined` if the queue is empty. */
  take(): T | undefined {
    const own = this.#turns[this.#taken];
    if (own === undefined) return undefined;
    this.#taken++;
    this.#size--;
    const item = own.shift();
    if (own.length > 0) this.#turns.push(own); // after the other keys
    if (this.#taken === this.#turns.length || this.#taken === MAX_TAKEN) {
      this.#turns.splice(0, this.#taken);
      this.#taken = 0;
    }
    return item;
  }

  /** Removes an item of a key before its turn. Returns false if it is not in the queue. */
  remove(key: string, item: T): boolean {
    const own = this.#items.get(key) ?? [];
    const at = own.indexOf(item);
    if (at === -1) return false;
    own.splice(at, 1);
    if (own.length === 0) this.#turns.splice(this.#turns.indexOf(own, this.#taken), 1);
    this.#size--;
    return true;
  }

  #addKey(key: string): T[] {
    if (this.#items.size >= MAX_IDLE_KEYS && this.#items.size >= 2 * (this.#turns.length - this.#taken))
      for (const [known, { length }] of this.#items) if (length === 0) this.#items.delete(known);
    const own: T[] = [];
    this.#items.set(key, own);
    return own;
  }
}
