import { raceAbort, Timer } from '@podwright/base';

/** Maximum number of commands with streams that are being started at a time. */
const MAX_STARTS = 16;
/** After this time a start no longer counts: it may hang, for example in a directory of a file server that does not answer. */
const MAX_START_MS = 2000;

/**
 * Bounds the number of commands that are being started: an OCI runtime needs CPU time for that, which is not the task's, so hundreds at once
 * would starve the node. Tasks take turns.
 */
export class ExecStarts {
  readonly #max: number;
  readonly #maxStartMs: number;
  /** What waits, by task. The task whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor({ max = MAX_STARTS, maxStartMs = MAX_START_MS } = {}) {
    this.#max = max;
    this.#maxStartMs = maxStartMs;
  }

  /** Waits until a command may be started in the task. Dispose the result once it runs. Rejects if the signal aborts. */
  async enter(task: string, signal: AbortSignal): Promise<Disposable> {
    if (this.#running >= this.#max) await this.#turn(task, signal);
    else this.#running += 1;
    let isStarting = true;
    const end = () => {
      if (isStarting) this.#next();
      isStarting = false;
    };
    const late = new Timer(end, this.#maxStartMs).unref();
    return {
      [Symbol.dispose]: () => {
        late[Symbol.dispose]();
        end();
      },
    };
  }

  async #turn(task: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = this.#waiting.get(task);
    if (own === undefined) this.#waiting.set(task, [resolve]);
    else own.push(resolve);
    try {
      await raceAbort(promise, signal);
    } catch (error) {
      // a turn that has come already is passed on
      if (!this.#remove(task, resolve)) this.#next();
      throw error;
    }
  }

  #remove(task: string, resolve: () => void): boolean {
    const own = this.#waiting.get(task) ?? [];
    const at = own.indexOf(resolve);
    if (at !== -1) own.splice(at, 1);
    if (own.length === 0) this.#waiting.delete(task);
    return at !== -1;
  }

  /** Passes the turn of a command that runs, or was not started, to the next one. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [task, own] = next;
    this.#waiting.delete(task);
    const first = own.shift()!;
    if (own.length > 0) this.#waiting.set(task, own); // behind the others
    first();
  }
}
