import { Limiter } from '@podwright/base';
import type { System } from '@podwright/system';
import { LayerWorker } from './layer-worker.ts';
import type { UnpackLayer, UnpackOptions, UnpackResult } from './unpack-options.ts';

/** A worker takes 20 MB and more; the disk is busy with two. */
const MAX_WORKERS = 2;
/** Layers of one image come closer together than this; after it the memory is given back. */
const IDLE_MS = 5000;

/** Unpacks layers in up to two worker threads, which are started when needed and end when idle. */
export class LayerUnpacker implements AsyncDisposable {
  readonly #system: System;
  readonly #limiter = new Limiter(MAX_WORKERS);
  readonly #idle = new Map<LayerWorker, NodeJS.Timeout>();

  constructor({ system }: { system: System }) {
    this.#system = system;
  }

  /** Waits for a free worker, and unpacks. When an aborted call has ended, nothing writes to its folder any more. */
  readonly unpackLayer: UnpackLayer = (options) => this.#limiter.run(() => this.#unpack(options), options.signal);

  async #unpack(options: UnpackOptions): Promise<UnpackResult> {
    const worker = this.#take();
    try {
      return await worker.run(options);
    } finally {
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
    }, IDLE_MS);
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
