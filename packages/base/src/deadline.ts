import { PodwrightError } from './errors.ts';

/** `setTimeout`'s maximum delay, about 24 days; it fires after 1 ms if the delay is longer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Calls `callback` once after `delayMs`, which may exceed `setTimeout`'s maximum and may be `Infinity`. Disposing the timer cancels it.
 * Throws `internal` if the delay is NaN.
 */
export class Timer implements Disposable {
  readonly #callback: () => void;
  readonly #delayMs: number;
  #timeout: NodeJS.Timeout;
  #isUnref = false;

  constructor(callback: () => void, delayMs: number) {
    if (Number.isNaN(delayMs)) throw new PodwrightError('internal', 'start a timer: the delay is not a number');
    this.#callback = callback;
    this.#delayMs = Math.max(0, delayMs); // a deadline may have passed
    this.#timeout = this.#start(this.#delayMs);
  }

  /** Restarts the timer with its full delay, as if it had just been created. */
  refresh(): void {
    if (this.#delayMs <= MAX_TIMEOUT_MS) return void this.#timeout.refresh();
    clearTimeout(this.#timeout);
    this.#timeout = this.#start(this.#delayMs);
  }

  /** Lets the process exit while the timer is pending. */
  unref(): this {
    this.#isUnref = true;
    this.#timeout.unref();
    return this;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timeout);
  }

  #start(leftMs: number): NodeJS.Timeout {
    if (leftMs <= MAX_TIMEOUT_MS) return this.#ref(setTimeout(this.#callback, leftMs));
    const goOn = () => {
      this.#timeout = this.#start(leftMs - MAX_TIMEOUT_MS);
    };
    return this.#ref(setTimeout(goOn, MAX_TIMEOUT_MS));
  }

  #ref(timeout: NodeJS.Timeout): NodeJS.Timeout {
    return this.#isUnref ? timeout.unref() : timeout;
  }
}

/**
 * Returns a signal that aborts when `parent` does, with the same reason, or with a `deadline_exceeded` error after `timeoutMs`. `what`
 * names the operation in that error.
 */
export function withTimeout(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  what: string,
): AbortSignal & Disposable {
  const controller = new AbortController();
  const timer = new Timer(() => {
    controller.abort(new PodwrightError('deadline_exceeded', `${what}: no answer within ${timeoutMs} ms`));
  }, timeoutMs);
  const follow = () => controller.abort(parent?.reason);
  const dispose = () => {
    timer[Symbol.dispose]();
    parent?.removeEventListener('abort', follow);
  };
  if (parent?.aborted) follow();
  parent?.addEventListener('abort', follow, { once: true });
  controller.signal.addEventListener('abort', dispose, { once: true });
  return Object.assign(controller.signal, { [Symbol.dispose]: dispose });
}

/** Waits for `durationMs`. Rejects with the signal's reason as soon as it aborts. */
export function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer[Symbol.dispose]();
      reject(signal?.reason);
    };
    const timer = new Timer(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, durationMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Waits for `durationMs` or until the signal aborts. Never rejects. */
export function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return sleep(durationMs, signal).catch(() => undefined); // `sleep` rejects only when the signal aborts
}

/**
 * Settles like the promise, or rejects with the signal's reason if that aborts first. The underlying work continues; if it fails later, its
 * error is ignored.
 */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Calls `probe` every `intervalMs` until it returns a value other than `undefined`. Rejects if the signal aborts. */
export async function waitFor<T>(
  probe: () => Promise<T | undefined> | T | undefined,
  options: { intervalMs: number; signal: AbortSignal },
): Promise<T> {
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    await sleep(options.intervalMs, options.signal);
  }
}
