/**
 * Functions to call when something changes. A publisher can be created before its listeners, so it needs no references to components that
 * are created later. A value published while there are no listeners is lost.
 */
export class Listeners<Args extends unknown[] = []> {
  readonly #listeners = new Set<(...args: Args) => void>();

  /** Adds a listener. It stays subscribed until the returned function is called. */
  subscribe(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listeners in the order in which they subscribed. */
  publish(...args: Args): void {
    for (const listener of this.#listeners) listener(...args);
  }
}
