import { raceAbort } from '@podwright/base';

/**
 * Work that outlives its caller. Whoever asks for the same key while it runs shares it; a caller that goes away
 * or whose deadline passes leaves it running. What is finished is forgotten here: its record answers the retry.
 */
export class SharedWork {
  readonly #running = new Map<string, Promise<unknown>>();

  run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    let running = this.#running.get(key) as Promise<T> | undefined;
    if (running === undefined) {
      running = work().finally(() => this.#running.delete(key));
      running.catch(() => undefined); // its caller may be gone
      this.#running.set(key, running);
    }
    return raceAbort(running, signal);
  }

  /** Ends when everything that runs now has ended, however it ends. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }
}
