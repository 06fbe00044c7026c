import { raceAbort } from '@podwright/base';

/**
 * Work that may run together, and work that must run alone: CNI forbids ADD and DEL while GC runs (spec section 3,
 * "Lifecycle & ordering"). Alone waits for what runs; what comes after it waits for it.
 */
export class SharedLock {
  #running = new Set<Promise<unknown>>();
  #alone: Promise<unknown> = Promise.resolve();

  /** As soon as nothing runs alone; a caller whose signal aborts before that leaves at once with the signal's reason. */
  shared<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const turn = this.#whenOver(this.#alone, { work, signal });
    const ended = turn.catch(() => undefined).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    return turn;
  }

  /** When all that runs has ended; a caller that leaves before lets those behind it go on. */
  alone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = Promise.all([this.#alone, ...this.#running]);
    const turn = this.#whenOver(before, { work, signal });
    const ended = turn.catch(() => undefined);
    this.#alone = Promise.all([before, ended]); // one that has left does not let others in before those it waited for
    return turn;
  }

  async #whenOver<T>(
    before: Promise<unknown>,
    { work, signal }: { work: () => Promise<T>; signal: AbortSignal },
  ): Promise<T> {
    await raceAbort(before, signal);
    return await work();
  }
}
