/** How long an unused document is retained in the cache, so that no memory is used while no client reads documents. */
const RETENTION_MS = 60_000;

type Entry = { value: Promise<Uint8Array>; timer: NodeJS.Timeout };

export class DocumentCache {
  readonly #entries = new Map<string, Entry>();

  /** Returns the document with the given key, calling `make` to build it if it is not cached. Concurrent calls share the result. */
  get(key: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const found = this.#entries.get(key);
    clearTimeout(found?.timer);
    const value = found?.value ?? make();
    if (found === undefined) value.catch(() => this.#drop(key));
    const timer = setTimeout(() => this.#drop(key), RETENTION_MS).unref();
    this.#entries.set(key, { value, timer });
    return value;
  }

  #drop(key: string): void {
    clearTimeout(this.#entries.get(key)?.timer);
    this.#entries.delete(key);
  }
}
