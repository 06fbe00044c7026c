/** Tells of pods of which something has changed in the runtime. */
export class PodChanges {
  readonly #listeners = new Set<(podUid: string) => void>();

  /** Until the returned function is called. */
  subscribe(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(podUid: string): void {
    for (const listener of this.#listeners) listener(podUid);
  }
}
