import { raceAbort } from '@podwright/base';

/**
 * A shared/exclusive lock. It is needed because CNI forbids ADD and DEL while GC runs (spec section 3, "Lifecycle & ordering"). Exclusive
 * work waits for all work that is already running, and later work waits for the exclusive work.
 */
export class SharedLock {
  #running = new Set<Promise<unknown>>();
  #alone: Promise<unknown> = Promise.resolve();

  /**
   * Runs shared work as soon as no exclusive work is running. If the signal aborts before that, rejects immediately with the signal's
   * reason.
   */
  shared<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const turn = this.#whenOver(this.#alone, { work, signal });
    const ended = turn.catch(() => undefined).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    return turn;
  }

  /** Runs exclusive work once all running work has finished. An aborted waiter does not block later callers. */
  alone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = Promise.all([this.#alone, ...this.#running]);
    const turn = this.#whenOver(before, { work, signal });
    const ended = turn.catch(() => undefined);
    this.#alone = Promise.all([before, ended]); // if this caller is aborted, later callers still wait for the earlier ones
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
