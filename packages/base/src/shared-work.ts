import { raceAbort } from './deadline.ts';
import { isDeadlineExceeded, PodwrightError } from './errors.ts';

type Running = { promise: Promise<unknown>; controller: AbortController; callers: number };

/**
 * Work that outlives its caller. Whoever asks for the same key while it runs shares it. A caller whose deadline passes
 * leaves it running: it will come again. Once the last caller has gone away for good, the work's signal aborts, and who
 * asks after that waits for the roll back and begins anew. What is finished is forgotten here: its record answers the retry.
 */
export class SharedWork {
  readonly #running = new Map<string, Running>();

  async run<T>(key: string, signal: AbortSignal, work: (abandoned: AbortSignal) => Promise<T>): Promise<T> {
    for (let old = this.#running.get(key); old?.controller.signal.aborted; old = this.#running.get(key)) {
      await raceAbort(Promise.allSettled([old.promise]), signal);
    }
    const running = this.#running.get(key) ?? this.#start(key, work);
    running.callers++;
    try {
      return await raceAbort(running.promise as Promise<T>, signal);
    } finally {
      running.callers--;
      const gone = signal.aborted && !isDeadlineExceeded(signal.reason);
      if (gone && running.callers === 0) running.controller.abort(signal.reason);
    }
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

  #start(key: string, work: (abandoned: AbortSignal) => Promise<unknown>): Running {
    const controller = new AbortController();
    const promise = work(controller.signal).finally(() => this.#running.delete(key));
    promise.catch(() => undefined); // its caller may be gone
    const running = { promise, controller, callers: 0 };
    this.#running.set(key, running);
    return running;
  }
}
