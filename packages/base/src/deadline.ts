import { PodwrightError } from './errors.ts';

/** Longest delay of a Node.js timer, about 24 days: `setTimeout` fires at once for longer ones. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `callback` once after `delayMs`, which may exceed `MAX_TIMER_MS`. Returns a function that cancels the timer. */
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

/**
 * A signal that aborts with `parent`'s reason when `parent` does, or with a `deadline_exceeded` error after `timeoutMs`. `what` names
 * the operation in that error.
 */
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

/** Settles as the promise does, or rejects with the signal's reason if that comes first. The work goes on; a later failure of it is ignored. */
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
