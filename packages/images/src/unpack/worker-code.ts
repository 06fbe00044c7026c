import { closeSync, openSync, readFileSync } from 'node:fs';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** The worker's bundle: a file next to the program's own bundle, or an asset of the single executable. */
const BUNDLE = 'unpack-worker.cjs';
/** The module that the worker runs if there is no bundle. */
const MODULE = import.meta.url.endsWith('.ts') ? './unpack-worker.ts' : './unpack-worker.js';

/**
 * The workers' code. The bundle file is kept open, because an upgrade might replace it while this process is running, and a worker of a
 * different version might use a different protocol.
 */
export class WorkerCode implements Disposable {
  /** File descriptor of the open bundle; `undefined` in the single executable or if there is no bundle. */
  readonly #file: number | undefined;

  constructor() {
    const isBundled = !/\/worker-code\.[jt]s$/.test(import.meta.url);
    this.#file = isBundled && !isExecutable() ? openSync(new URL(`./${BUNDLE}`, import.meta.url), 'r') : undefined;
  }

  start(options: WorkerOptions): Worker {
    const text = this.#text();
    if (text === undefined) return new Worker(new URL(MODULE, import.meta.url), options);
    return new Worker(text, { ...options, eval: true });
  }

  #text(): string | undefined {
    if (isExecutable()) return process.getBuiltinModule('node:sea').getAsset(BUNDLE, 'utf8');
    return this.#file === undefined ? undefined : readFileSync(`/proc/self/fd/${this.#file}`, 'utf8');
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

/** Whether this process is a Node.js single executable application. */
function isExecutable(): boolean {
  return process.getBuiltinModule('node:sea').isSea();
}
