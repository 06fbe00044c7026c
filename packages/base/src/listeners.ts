/**
 * Functions to call when something changes. A publisher needs no references to its listeners, so it can be created before them. A value
 * published while there are no listeners is lost.
 */
export class Listeners<Args extends unknown[] = []> {
  readonly #listeners = new Set<(...args: Args) => void>();

  /** Adds a listener and returns a function that removes it. */
  subscribe(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listeners in the order they subscribed. */
  publish(...args: Args): void {
    for (const listener of this.#listeners) listener(...args);
  }
}
