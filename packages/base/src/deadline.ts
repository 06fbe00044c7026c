import { PodwrightError } from './errors.ts';

/** The longest time of a timer of Node.js, some 24 days: with more, `setTimeout` does not wait at all. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `callback` once after a time of any length, also one that is longer than Node's timers. Returns a function that cancels the timer. */
function startTimer(callback: () => void, delayMs: number): () => void {
  if (Number.isNaN(delayMs)) throw new PodwrightError('internal', 'start a timer: its time is not a number');
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    const next = leftMs > MAX_TIMER_MS ? () => wait(leftMs - MAX_TIMER_MS) : callback;
    timer = setTimeout(next, Math.min(leftMs, MAX_TIMER_MS));
  };
  wait(delayMs);
  return () => clearTimeout(timer);
}

/** A signal that aborts when `parent` does or after `timeoutMs`, with a `deadline_exceeded` error as its reason. */
export function withTimeout(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  what: string,
): AbortSignal & Disposable {
  const controller = new AbortController();
  const clear = startTimer(() => {
    controller.abort(new PodwrightError('deadline_exceeded', `${what}: no answer within ${timeoutMs} ms`));
  }, timeoutMs);
  const follow = () => controller.abort(parent?.reason);
  const dispose = () => {
    clear();
    parent?.removeEventListener('abort', follow);
  };
  if (parent?.aborted) follow();
  parent?.addEventListener('abort', follow, { once: true });
  controller.signal.addEventListener('abort', dispose, { once: true });
  return Object.assign(controller.signal, { [Symbol.dispose]: dispose });
}

/** Waits `durationMs`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clear();
      reject(signal?.reason);
    };
    const clear = startTimer(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, durationMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The promise's outcome, or the signal's reason if that comes first. The work itself goes on; if it fails later, that error is ignored. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Calls `probe` every `intervalMs` until it returns something other than `undefined`, or the signal aborts. */
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
