import { closeSync, openSync, readFileSync } from 'node:fs';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * The code of the workers. A bundle's file stays open, because an upgrade may replace it while this process runs: a worker of another
 * version may speak another protocol.
 */
export class WorkerCode implements Disposable {
  /** The open file; `undefined` if the sources run without a bundle. */
  readonly #file: number | undefined;

  constructor() {
    const isBundled = !import.meta.url.endsWith('.ts');
    this.#file = isBundled ? openSync(new URL('./unpack-worker.cjs', import.meta.url), 'r') : undefined;
  }

  start(options: WorkerOptions): Worker {
    if (this.#file === undefined) return new Worker(new URL('./unpack-worker.ts', import.meta.url), options);
    return new Worker(readFileSync(`/proc/self/fd/${this.#file}`, 'utf8'), { ...options, eval: true });
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}
