import { raceAbort } from '@podwright/base';

type Running = { promise: Promise<unknown>; controller: AbortController; callers: number };

/**
 * Work shared by concurrent callers with the same key. It continues while any caller is interested, and is aborted when the last one
 * aborts. (The base package's `SharedWork`, in contrast, outlives its callers.)
 */
export class SharedTasks {
  readonly #running = new Map<string, Running>();
  /** All unfinished tasks, including aborted ones. */
  readonly #unfinished = new Set<Running>();

  async run<T>(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const task = this.#running.get(key) ?? this.#start(key, work);
    task.callers++;
    try {
      return await raceAbort(task.promise as Promise<T>, signal);
    } finally {
      task.callers--;
      if (task.callers === 0) {
        // later callers must not join work that is being aborted
        if (this.#running.get(key) === task) this.#running.delete(key);
        task.controller.abort(signal.reason);
      }
    }
  }

  /** Aborts all running work with this reason and waits for it to end, as well as for any work aborted earlier. */
  async close(reason: Error): Promise<void> {
    const tasks = [...this.#unfinished];
    for (const { controller } of tasks) controller.abort(reason);
    await Promise.allSettled(tasks.map(({ promise }) => promise));
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<unknown>): Running {
    const controller = new AbortController();
    const task: Running = { promise: work(controller.signal), controller, callers: 0 };
    task.promise
      .finally(() => {
        this.#unfinished.delete(task);
        if (this.#running.get(key) === task) this.#running.delete(key);
      })
      .catch(() => undefined); // the task's callers get the error
    this.#running.set(key, task);
    this.#unfinished.add(task);
    return task;
  }
}
