import { raceAbort } from './deadline.ts';
import { isDeadlineExceeded, PodwrightError } from './errors.ts';
import { firstDifference } from './first-difference.ts';

/**
 * `key` names the operation, such as `run sandbox NAME`. `input` is its request, which must be equal in all concurrent calls with the same
 * key.
 */
export type WorkKey = { key: string; input?: unknown };

type Running = { promise: Promise<unknown>; controller: AbortController; callers: number; input: unknown };

/**
 * Work that outlives its caller. A call with the key of running work joins it, or rejects with `already_exists` if the inputs differ. If a
 * caller's deadline passes, the work continues, because the caller is expected to retry. If the last caller aborts for any other reason,
 * the work's signal aborts; a later call waits for the rollback and then starts over. Results are not kept once the work has finished, so a
 * caller that retries must find them in its own records.
 */
export class SharedWork {
  readonly #running = new Map<string, Running>();
  #idleSinceMs = performance.now();

  async run<T>({ key, input }: WorkKey, signal: AbortSignal, work: (abandoned: AbortSignal) => Promise<T>): Promise<T> {
    for (let old = this.#running.get(key); old?.controller.signal.aborted; old = this.#running.get(key)) {
      await raceAbort(Promise.allSettled([old.promise]), signal);
    }
    const running = this.#running.get(key) ?? this.#start({ key, input }, work);
    const difference = firstDifference(running.input, input);
    if (difference !== undefined)
      throw new PodwrightError('already_exists', `${key}: a call with another ${difference || 'input'} is under way`);
    running.callers++;
    try {
      return await raceAbort(running.promise as Promise<T>, signal);
    } finally {
      running.callers--;
      const hasCancelled = signal.aborted && !isDeadlineExceeded(signal.reason);
      if (hasCancelled && running.callers === 0) running.controller.abort(signal.reason);
    }
  }

  /** Returns for how long no work has been running, in ms; 0 while work is running. */
  get idleMs(): number {
    return this.#running.size > 0 ? 0 : performance.now() - this.#idleSinceMs;
  }

  /** Resolves once all work that is running now has settled, whether it succeeded or not. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ promise }) => promise));
  }

  /** Aborts the signals of all running work, which then rolls back. */
  abandon(): void {
    const reason = new PodwrightError('unavailable', 'the runtime is being closed');
    for (const { controller } of this.#running.values()) controller.abort(reason);
  }

  #start({ key, input }: WorkKey, work: (abandoned: AbortSignal) => Promise<unknown>): Running {
    const controller = new AbortController();
    const promise = work(controller.signal).finally(() => this.#end(key));
    promise.catch(() => undefined); // the rejection is unhandled if every caller has stopped waiting
    const running = { promise, controller, callers: 0, input };
    this.#running.set(key, running);
    return running;
  }

  #end(key: string): void {
    this.#running.delete(key);
    this.#idleSinceMs = performance.now();
  }
}
