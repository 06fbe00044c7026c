/** How long a compressed document is kept after its last use, so that documents take up no memory while no client reads them. */
const RETENTION_MS = 60_000;

type Entry = { value: Promise<Uint8Array>; timer: NodeJS.Timeout };

export class DocumentCache {
  readonly #entries = new Map<string, Entry>();

  /** Returns the document with the given key. `make` builds it if it is not cached; concurrent calls share the result. */
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
