import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { pause } from '@podwright/base';
import { followLink } from './log-link.ts';

/** Minimum time between two change notifications, because a container may write thousands of times a second. */
const MIN_LOG_INTERVAL_MS = 10;

/** Maximum time between two change notifications, in case an inotify event is lost. */
export const LOG_SAFETY_INTERVAL_MS = 1000;

/** Watches a file's directory to detect when the file grows or is rotated. */
export class FileChanges implements AsyncDisposable {
  readonly #path: string;
  readonly #stop: AbortSignal;
  #watcher: FSWatcher | undefined;
  #changed = false;
  #lastAtMs = 0;
  #wake: (() => void) | undefined;

  constructor(path: string, { ended, signal }: { ended: AbortSignal; signal: AbortSignal }) {
    this.#path = path;
    this.#stop = AbortSignal.any([ended, signal]);
    this.#stop.addEventListener('abort', () => this.#wake?.(), { once: true });
    this.#watch();
  }

  #watch(): void {
    try {
      this.#watcher ??= watch(dirname(followLink(this.#path)), () => {
        this.#changed = true;
        this.#wake?.();
      }).on('error', () => this.#unwatch());
    } catch {
      // the log's directory does not exist yet, or the inotify watch limit has been reached: poll at the safety interval, and try to watch
      // again on the next call
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /**
   * Resolves on the file's next change (immediately if it has changed since the last call), when `ended` or `signal` aborts, or after
   * `LOG_SAFETY_INTERVAL_MS`, in case the file system did not report a change.
   */
  async next(): Promise<void> {
    const tooSoonMs = this.#lastAtMs + MIN_LOG_INTERVAL_MS - performance.now();
    if (tooSoonMs > 0) await pause(tooSoonMs, this.#stop);
    if (!this.#changed && !this.#stop.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, LOG_SAFETY_INTERVAL_MS);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.#changed = false;
    this.#lastAtMs = performance.now();
    this.#watch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unwatch();
  }
}
