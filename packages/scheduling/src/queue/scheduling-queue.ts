import { namespacedName, type Pod, podPriority } from '@podwright/kube-api';
import { asksForOther } from './wake-up.ts';

/** Upstream's default backoff after the first failure, which doubles with each further failure, and its maximum. */
const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 10_000;

/** How long a pod waits for a cluster change before it is retried anyway. */
const MAX_WAIT_MS = 5 * 60_000;

/**
 * A pod that needs a node: `ready` to be tried; in `backoff` until a certain time; `waiting` for a cluster change, for a few minutes at
 * most; or `binding` to a node, until it is deleted from the queue or the binding fails.
 */
type Entry = {
  pod: Pod;
  state: 'ready' | 'backoff' | 'waiting' | 'binding';
  addedMs: number;
  attempts: number;
  /** When the last attempt's backoff ends. */
  notBeforeMs: number;
  timer?: NodeJS.Timeout;
};

/** Pods without a node, most important first. */
export class SchedulingQueue {
  readonly #entries = new Map<string, Entry>();
  /** Number of cluster changes so far: an attempt that started before the latest one might have missed it. */
  #changes = 0;
  #tried: { key: string; changes: number } | undefined;
  #wake: () => void = () => undefined;

  /** Adds a pod or its new state. A waiting pod that now asks for something different is retried. */
  put(pod: Pod): void {
    const key = namespacedName(pod);
    const known = this.#entries.get(key);
    if (known?.pod.metadata.uid === pod.metadata.uid) {
      const isChanged = asksForOther(known.pod, pod);
      known.pod = pod;
      if (isChanged && known.state === 'waiting') this.#retry(known);
      return;
    }
    this.delete(key);
    this.#entries.set(key, { pod, state: 'ready', addedMs: performance.now(), attempts: 0, notBeforeMs: 0 });
    this.#wake();
  }

  delete(key: string): void {
    clearTimeout(this.#entries.get(key)?.timer);
    this.#entries.delete(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /**
   * Returns the next pod to try, or `undefined` once the signal has aborted. The same pod is returned again unless `delete`, `binding` or
   * `failed` is called.
   */
  async next(signal: AbortSignal): Promise<Pod | undefined> {
    while (!signal.aborted) {
      const entry = this.#first();
      if (entry !== undefined) {
        entry.attempts++;
        entry.notBeforeMs = performance.now() + backoffMs(entry.attempts);
        this.#tried = { key: namespacedName(entry.pod), changes: this.#changes };
        return entry.pod;
      }
      await this.#change(signal);
    }
    return undefined;
  }

  /** Excludes a pod from further attempts unless `failed` is called. Its number of attempts is retained for the backoff. */
  binding(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.state = 'binding';
  }

  /**
   * Makes a pod wait after a failed attempt: for its backoff if the cluster has changed since the attempt began or `isError` is set,
   * otherwise for a cluster change.
   */
  failed(key: string, { isError }: { isError: boolean }): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    const hasChanged = this.#tried?.key !== key || this.#tried.changes !== this.#changes;
    if (isError || hasChanged) return this.#retry(entry);
    entry.state = 'waiting';
    this.#setTimer(entry, MAX_WAIT_MS);
  }

  /** Retries the waiting pods selected by `concerns`, each as soon as its backoff has expired. */
  clusterChanged(concerns: (pod: Pod) => boolean = () => true): void {
    this.#changes++;
    for (const entry of this.#entries.values())
      if (entry.state === 'waiting' && concerns(entry.pod)) this.#retry(entry);
  }

  close(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  #first(): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of this.#entries.values())
      if (entry.state === 'ready' && (first === undefined || compare(entry, first) < 0)) first = entry;
    return first;
  }

  #retry(entry: Entry): void {
    const leftMs = entry.notBeforeMs - performance.now();
    entry.state = leftMs > 0 ? 'backoff' : 'ready';
    if (leftMs > 0) return this.#setTimer(entry, leftMs);
    clearTimeout(entry.timer);
    this.#wake();
  }

  #setTimer(entry: Entry, delayMs: number): void {
    clearTimeout(entry.timer);
    const isDue = () => {
      entry.state = 'ready';
      this.#wake();
    };
    entry.timer = setTimeout(isDue, Math.min(delayMs, MAX_WAIT_MS));
  }

  #change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    this.#wake = done;
    return promise;
  }
}

function compare(a: Entry, b: Entry): number {
  return podPriority(b.pod) - podPriority(a.pod) || a.addedMs - b.addedMs;
}

function backoffMs(attempts: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (attempts - 1), MAX_BACKOFF_MS);
}
