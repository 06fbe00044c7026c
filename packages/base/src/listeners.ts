/**
 * Functions to call when something changes. The publisher can be created before its listeners, so it needs no references to parts that are
 * created later. A value that is published while there are no listeners is lost.
 */
export class Listeners<Args extends unknown[] = []> {
  readonly #listeners = new Set<(...args: Args) => void>();

  /** Calls the listener until the returned function is called. */
  subscribe(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listeners in the order of their subscriptions. */
  publish(...args: Args): void {
    for (const listener of this.#listeners) listener(...args);
  }
}
