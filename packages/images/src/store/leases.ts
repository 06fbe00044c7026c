/**
 * What running pulls, loads and saves need of content and snapshots although no record names it yet. In memory only: after a
 * crash nothing runs. A blob or snapshot is held *before* its presence is looked up, and garbage collection asks under
 * the same lock before it deletes, so nothing vanishes between the look and the use.
 */
export class Leases {
  readonly #counts = new Map<string, number>();

  open(): Lease {
    return new Lease(this.#counts);
  }

  holds(key: string): boolean {
    return this.#counts.has(key);
  }
}

/** The holdings of one piece of work, given back all at once. */
export class Lease implements Disposable {
  readonly #counts: Map<string, number>;
  readonly #keys = new Set<string>();

  constructor(counts: Map<string, number>) {
    this.#counts = counts;
  }

  /** Holds a blob by its digest or a snapshot by its chain id. */
  hold(...keys: string[]): void {
    for (const key of keys) {
      if (this.#keys.has(key)) continue;
      this.#keys.add(key);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    }
  }

  [Symbol.dispose](): void {
    for (const key of this.#keys) {
      const count = (this.#counts.get(key) ?? 1) - 1;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
    this.#keys.clear();
  }
}
