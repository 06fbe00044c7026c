import { Limiter } from '@podwright/base';
import type { System } from '@podwright/system';
import { MAX_WORKERS, WORKER_IDLE_MS } from '../limits.ts';
import { LayerWorker } from './layer-worker.ts';
import type { UnpackLayer, UnpackOptions, UnpackResult } from './unpack-options.ts';
import { WorkerCode } from './worker-code.ts';

/** Unpacks layers in up to two worker threads, which are started on demand and exit after being idle for a while. */
export class LayerUnpacker implements AsyncDisposable {
  readonly #system: System;
  readonly #code = new WorkerCode();
  readonly #limiter = new Limiter(MAX_WORKERS);
  readonly #idle = new Map<LayerWorker, NodeJS.Timeout>();
  #busy = 0;
  /** True while a worker is unpacking a blob that is still being downloaded. */
  #isFollowing = false;

  constructor({ system }: { system: System }) {
    this.#system = system;
  }

  /** Waits for an idle worker and unpacks the layer. Once an aborted call has rejected, nothing more is written to its directory. */
  readonly unpackLayer: UnpackLayer = async (options) => {
    const unpack = () => this.#limiter.run(() => this.#unpack(options), options.signal);
    if (options.arriving === undefined) return unpack();
    if (this.#isFollowing) {
      await options.arriving.filled(options.signal); // slow transfers may occupy only one worker
      return unpack();
    }
    this.#isFollowing = true;
    try {
      return await unpack();
    } finally {
      this.#isFollowing = false;
    }
  };

  /** Starts a worker in advance for a layer that is expected soon, because starting a thread takes as long as fetching a small layer. */
  readonly prepare = (): void => {
    if (this.#idle.size === 0 && this.#busy < MAX_WORKERS) this.#addIdle(new LayerWorker(this.#system, this.#code));
  };

  async #unpack(options: UnpackOptions): Promise<UnpackResult> {
    const worker = this.#take();
    this.#busy++;
    try {
      return await worker.run(options);
    } finally {
      this.#busy--;
      if (!worker.hasEnded) this.#addIdle(worker);
    }
  }

  #take(): LayerWorker {
    for (const [worker, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(worker);
      return worker;
    }
    return new LayerWorker(this.#system, this.#code);
  }

  #addIdle(worker: LayerWorker): void {
    const timer = setTimeout(() => {
      this.#idle.delete(worker);
      void worker.end().then(() => this.#system.trimMemory());
    }, WORKER_IDLE_MS);
    timer.unref();
    this.#idle.set(worker, timer);
  }

  /** Terminates the idle workers. Busy ones are terminated when their job's signal aborts. */
  async [Symbol.asyncDispose](): Promise<void> {
    const idle = [...this.#idle];
    this.#idle.clear();
    for (const [worker, timer] of idle) {
      clearTimeout(timer);
      await worker.end();
    }
    this.#code[Symbol.dispose]();
  }
}
