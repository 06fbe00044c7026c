import { errorCode, errorMessage, type Logger, raceAbort } from '@podwright/base';
import { ENGINE_RETRY_MS } from './limits.ts';

/**
 * Runs the startup work that requires the Engine until it has succeeded once. No call is served before that. If the Engine is unreachable,
 * the work is retried every two seconds and on each call.
 */
export class EngineStartup {
  readonly #work: () => Promise<void>;
  readonly #logger: Logger;
  #done = false;
  #trying: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(work: () => Promise<void>, logger: Logger) {
    this.#work = work;
    this.#logger = logger;
  }

  /** Whether the startup work has succeeded, so that calls need not wait for it. */
  get isDone(): boolean {
    return this.#done;
  }

  /** Runs the startup work; retries in the background if the Engine is unreachable. Rejects with any other error. */
  async start(): Promise<void> {
    try {
      await this.#try();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      this.#logger.warn({ error: errorMessage(error) }, 'the Docker Engine is unreachable, retrying');
      this.#retryLater();
    }
  }

  /** Resolves once the startup work has succeeded. Rejects with the error of a failed attempt or with the signal's abort reason. */
  async done(signal: AbortSignal): Promise<void> {
    if (!this.#done) await raceAbort(this.#try(), signal);
  }

  /** Stops retrying and waits for any attempt in flight. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#done = true;
    await this.#trying?.catch(() => undefined);
  }

  #try(): Promise<void> {
    this.#trying ??= this.#work()
      .then(() => {
        this.#done = true;
      })
      .finally(() => {
        this.#trying = undefined;
      });
    return this.#trying;
  }

  #retryLater(): void {
    this.#timer = setTimeout(() => {
      if (this.#done) return;
      this.#try().then(
        () => this.#logger.info({}, 'the Docker Engine is reachable again'),
        () => this.#retryLater(),
      );
    }, ENGINE_RETRY_MS).unref();
  }
}

function isUnreachable(error: unknown): boolean {
  return errorCode(error) === 'unavailable' || errorCode(error) === 'deadline_exceeded';
}
