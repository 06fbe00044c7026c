/**
 * Content and snapshots that are needed by running pulls, loads and saves but not referenced by any record yet. Leases exist only in
 * memory, because none of this work survives a crash. Work must hold a blob or snapshot *before* checking whether it exists, and garbage
 * collection checks the leases under the same lock before deleting anything, so nothing vanishes between check and use.
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

/** The blobs and snapshots held by a pull, load or save. Disposing the lease releases all of them. */
export class Lease implements Disposable {
  readonly #counts: Map<string, number>;
  readonly #keys = new Set<string>();

  constructor(counts: Map<string, number>) {
    this.#counts = counts;
  }

  /** Holds a blob by its digest or a snapshot by its chain ID. */
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
