import { raceAbort, Timer, TurnQueue } from '@podwright/base';

/** Maximum number of concurrent starts of commands with streams. */
const MAX_STARTS = 16;
/**
 * A start no longer counts toward the limit after this time, because it might hang, for example in a directory on a file server that does
 * not respond.
 */
const MAX_START_MS = 2000;

/**
 * Limits the number of concurrent command starts. Each needs CPU time for the OCI runtime that is not charged to the task, so hundreds at
 * once would starve the node. Tasks take turns.
 */
export class ExecStarts {
  readonly #max: number;
  readonly #maxStartMs: number;
  /** Command starts that are waiting, by task. */
  readonly #waiting = new TurnQueue<() => void>();
  #running = 0;

  constructor({ max = MAX_STARTS, maxStartMs = MAX_START_MS } = {}) {
    this.#max = max;
    this.#maxStartMs = maxStartMs;
  }

  /**
   * Waits until a command may be started in the task. The caller must dispose the returned object once the command is running. Rejects if
   * the signal aborts.
   */
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
    this.#waiting.add(task, resolve);
    try {
      await raceAbort(promise, signal);
    } catch (error) {
      // if the turn was granted just before the abort, pass it on to the next start
      if (!this.#waiting.remove(task, resolve)) this.#next();
      throw error;
    }
  }

  /** Lets the next waiting start proceed, or frees the slot if none is waiting. Called once a command is running or has failed to start. */
  #next(): void {
    const next = this.#waiting.take();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
