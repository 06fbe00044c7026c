import { errorCode, errorMessage, type Logger, raceAbort } from '@podwright/base';
import { ENGINE_RETRY_MS } from './limits.ts';

/**
 * What needs the Engine once before anything else: tried at the start, and if the Engine is away then, every two seconds and with
 * each call until it has worked.
 */
export class Beginning {
  readonly #work: () => Promise<void>;
  readonly #logger: Logger;
  #done = false;
  #trying: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(work: () => Promise<void>, logger: Logger) {
    this.#work = work;
    this.#logger = logger;
  }

  /** Whether it has worked: nothing needs to wait then. */
  get isDone(): boolean {
    return this.#done;
  }

  /** Tries; an Engine that is away is looked for from then on. Rejects with anything else that is wrong. */
  async start(): Promise<void> {
    try {
      await this.#try();
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#logger.warn({ error: errorMessage(error) }, 'the Docker Engine is away, waiting for it');
      this.#retryLater();
    }
  }

  /** Resolves when it has worked; rejects with why it does not, or with the signal's reason. */
  async done(signal: AbortSignal): Promise<void> {
    if (!this.#done) await raceAbort(this.#try(), signal);
  }

  /** Gives up. What is being tried is waited for. */
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
        () => this.#logger.info({}, 'the Docker Engine is back'),
        () => this.#retryLater(),
      );
    }, ENGINE_RETRY_MS).unref();
  }
}

function isAway(error: unknown): boolean {
  return errorCode(error) === 'unavailable' || errorCode(error) === 'deadline_exceeded';
}
