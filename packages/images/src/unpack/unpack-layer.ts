import { Limiter } from '@podwright/base';
import type { System } from '@podwright/system';
import { MAX_WORKERS, WORKER_IDLE_MS } from '../limits.ts';
import { LayerWorker } from './layer-worker.ts';
import type { UnpackLayer, UnpackOptions, UnpackResult } from './unpack-options.ts';

/** Unpacks layers in up to two worker threads, which are started when needed and end when idle. */
export class LayerUnpacker implements AsyncDisposable {
  readonly #system: System;
  readonly #limiter = new Limiter(MAX_WORKERS);
  readonly #idle = new Map<LayerWorker, NodeJS.Timeout>();
  #busy = 0;
  /** True while a worker unpacks a blob that is still coming. */
  #isFollowing = false;

  constructor({ system }: { system: System }) {
    this.#system = system;
  }

  /** Waits for a free worker, and unpacks. When an aborted call has ended, nothing writes to its directory any more. */
  readonly unpackLayer: UnpackLayer = async (options) => {
    const unpack = () => this.#limiter.run(() => this.#unpack(options), options.signal);
    if (options.arriving === undefined) return unpack();
    if (this.#isFollowing) {
      await options.arriving.filled(options.signal); // slow transfers, however many, hold one worker
      return unpack();
    }
    this.#isFollowing = true;
    try {
      return await unpack();
    } finally {
      this.#isFollowing = false;
    }
  };

  /** Has a worker start now for a layer that is still to come: a thread needs as long as a small layer takes to be fetched. */
  readonly prepare = (): void => {
    if (this.#idle.size === 0 && this.#busy < MAX_WORKERS) this.#keep(new LayerWorker(this.#system));
  };

  async #unpack(options: UnpackOptions): Promise<UnpackResult> {
    const worker = this.#take();
    this.#busy++;
    try {
      return await worker.run(options);
    } finally {
      this.#busy--;
      if (!worker.hasEnded) this.#keep(worker);
    }
  }

  #take(): LayerWorker {
    for (const [worker, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(worker);
      return worker;
    }
    return new LayerWorker(this.#system);
  }

  #keep(worker: LayerWorker): void {
    const timer = setTimeout(() => {
      this.#idle.delete(worker);
      void worker.end().then(() => this.#system.trimMemory());
    }, WORKER_IDLE_MS);
    timer.unref();
    this.#idle.set(worker, timer);
  }

  /** Ends the idle workers. Those at work end with their job's signal. */
  async [Symbol.asyncDispose](): Promise<void> {
    const idle = [...this.#idle];
    this.#idle.clear();
    for (const [worker, timer] of idle) {
      clearTimeout(timer);
      await worker.end();
    }
  }
}
