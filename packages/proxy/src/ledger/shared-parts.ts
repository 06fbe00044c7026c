/** All chains, or all sets, of an nf_tables table. Each has a unique name and exists as long as at least one owner needs it. */
export class SharedParts<T extends { name: string }> {
  readonly #parts = new Map<string, { value: T; owners: Set<string>; isPublished: boolean }>();
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #touched = new Set<string>();

  /** Replaces the chains (or sets) that an owner needs. Two with the same name are assumed to be equal. */
  replace(owner: string, values: readonly T[]): void {
    const names = new Set(values.map(({ name }) => name));
    for (const name of this.#byOwner.get(owner) ?? []) {
      if (names.has(name)) continue;
      this.#parts.get(name)!.owners.delete(owner);
      this.#touched.add(name);
    }
    for (const value of values) {
      const part = this.#parts.get(value.name) ?? { value, owners: new Set<string>(), isPublished: false };
      part.owners.add(owner);
      this.#parts.set(value.name, part);
      if (!part.isPublished) this.#touched.add(value.name);
    }
    if (names.size === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, names);
  }

  /** Returns the chains (or sets) to add to the table, and the names of those to remove from it, since the last call. */
  takeChange(): { add: T[]; remove: string[] } {
    const change: { add: T[]; remove: string[] } = { add: [], remove: [] };
    for (const name of this.#touched) {
      const part = this.#parts.get(name)!;
      const isNeeded = part.owners.size > 0;
      if (isNeeded && !part.isPublished) change.add.push(part.value);
      if (!isNeeded && part.isPublished) change.remove.push(name);
      part.isPublished = isNeeded;
      if (!isNeeded) this.#parts.delete(name);
    }
    this.#touched.clear();
    return change;
  }

  /** Returns the chains (or sets) that are in the table as of the last `takeChange`. */
  published(): T[] {
    return [...this.#parts.values()].flatMap(({ value, isPublished }) => (isPublished ? [value] : []));
  }
}
