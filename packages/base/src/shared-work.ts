import { raceAbort } from './deadline.ts';
import { isDeadlineExceeded, PodwrightError } from './errors.ts';
import { firstDifference } from './first-difference.ts';

/** What is done, such as `run sandbox NAME`, and what is asked for: callers of one key must ask for the same. */
export type WorkKey = { key: string; input?: unknown };

type Running = { promise: Promise<unknown>; controller: AbortController; callers: number; input: unknown };

/**
 * Work that outlives its caller. A call with the key of work that runs shares it; one that asks for something else under
 * that key is an `already_exists`. A caller whose deadline passes leaves the work running: it will come again. Once the
 * last caller has gone away for good, the work's signal aborts, and a call after that waits for the roll back and begins
 * anew. What is finished is forgotten here: its record answers the retry.
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
      const gone = signal.aborted && !isDeadlineExceeded(signal.reason);
      if (gone && running.callers === 0) running.controller.abort(signal.reason);
    }
  }

  /** How long nothing has been running, in ms; 0 while something runs. */
  get idleMs(): number {
    return this.#running.size > 0 ? 0 : performance.now() - this.#idleSinceMs;
  }

  /** Ends when everything that runs now has ended, however it ends. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ promise }) => promise));
  }

  /** Aborts the signals of all that runs, which rolls back what can be rolled back. */
  abandon(): void {
    const reason = new PodwrightError('unavailable', 'the runtime is being closed');
    for (const { controller } of this.#running.values()) controller.abort(reason);
  }

  #start({ key, input }: WorkKey, work: (abandoned: AbortSignal) => Promise<unknown>): Running {
    const controller = new AbortController();
    const promise = work(controller.signal).finally(() => this.#end(key));
    promise.catch(() => undefined); // its caller may be gone
    const running = { promise, controller, callers: 0, input };
    this.#running.set(key, running);
    return running;
  }

  #end(key: string): void {
    this.#running.delete(key);
    this.#idleSinceMs = performance.now();
  }
}
