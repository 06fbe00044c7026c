/**
 * Work that may run together, and work that must run alone: CNI forbids ADD and DEL while GC runs (spec section 3,
 * "Lifecycle & ordering"). Alone waits for what runs; what comes after it waits for it.
 */
export class SharedLock {
  #running = new Set<Promise<unknown>>();
  #alone: Promise<unknown> = Promise.resolve();

  async shared<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#alone.then(work);
    this.#running.add(turn);
    try {
      return await turn;
    } finally {
      this.#running.delete(turn);
    }
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    const before = Promise.allSettled([this.#alone, ...this.#running]);
    const turn = before.then(work);
    this.#alone = turn.catch(() => undefined);
    return await turn;
  }
}
