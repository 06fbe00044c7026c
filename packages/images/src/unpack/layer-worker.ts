import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { PodwrightError } from '@podwright/base';
import type { System } from '@podwright/system';
import { MAX_WORKER_HEAP_MIB, MAX_WORKER_YOUNG_MIB } from '../limits.ts';
import { isOpaque, makeSystemCalls, type SystemCall } from './system-calls.ts';
import type { UnpackOptions, UnpackResult } from './unpack-options.ts';
import type { WorkerCode } from './worker-code.ts';
import {
  receiveError,
  type SystemAnswer,
  type SystemQuestion,
  sendError,
  type WorkerMessage,
  type WorkerRequest,
  type WorkerStart,
} from './worker-protocol.ts';

/** The main thread's side of a worker. Runs one job at a time, and makes system calls on the worker's behalf. */
export class LayerWorker {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  /** Rejects once the worker has exited, for any reason. */
  readonly #ended: Promise<never>;
  #hasEnded = false;

  constructor(system: System, code: WorkerCode) {
    const { port1, port2 } = new MessageChannel();
    const systemSignal = new SharedArrayBuffer(4);
    const workerData: WorkerStart = { systemPort: port2, systemSignal };
    this.#port = port1;
    this.#worker = code.start({
      workerData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: MAX_WORKER_HEAP_MIB, maxYoungGenerationSizeMb: MAX_WORKER_YOUNG_MIB },
      execArgv: [], // some flags of the process do not work for a thread (--input-type, --inspect-brk)
    });
    port1.on('message', (request: SystemCall[] | SystemQuestion) => {
      port1.postMessage(answer(system, request));
      const signal = new Int32Array(systemSignal);
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
    });
    this.#ended = new Promise((_, reject) => {
      this.#worker.once('error', (error) => reject(describeEnd(error)));
      this.#worker.once('exit', () => reject(new PodwrightError('aborted', 'unpack layer: its worker has ended')));
    });
    this.#worker.once('error', () => {
      this.#hasEnded = true;
    });
    this.#ended.catch(() => undefined); // `run` handles the rejection only during a job
    this.#idle();
  }

  /** Whether the worker has exited and cannot run another job. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Runs a job to completion. If the job is aborted, the worker is terminated and cannot be reused. */
  async run(options: UnpackOptions): Promise<UnpackResult> {
    const { signal } = options;
    signal.throwIfAborted();
    this.#worker.ref();
    this.#port.ref();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([this.#result(options), this.#ended, aborted]);
    } catch (error) {
      if (signal.aborted) await this.end();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#idle();
    }
  }

  /** Terminates the thread. Once this resolves, the thread no longer writes anything. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#worker.terminate();
    this.#port.close();
  }

  #result({ signal: _signal, onProgress, arriving, ...job }: UnpackOptions): Promise<UnpackResult> {
    return new Promise((resolve, reject) => {
      const send = (request: WorkerRequest) => this.#worker.postMessage(request);
      const onMessage = (message: WorkerMessage) => {
        if (message.type === 'progress') return onProgress?.(message.progress);
        this.#worker.off('message', onMessage);
        unsubscribe?.();
        if (message.type === 'done') resolve(message.result);
        else reject(receiveError(message.error));
      };
      this.#worker.on('message', onMessage);
      send({ type: 'unpack', job, sizeBytes: arriving?.sizeBytes });
      const unsubscribe = arriving?.onGrowth((bytes) => send({ type: 'arrived', bytes }));
    });
  }

  /** Marks the worker as idle so that it does not keep the process alive. */
  #idle(): void {
    this.#worker.unref();
    this.#port.unref();
  }
}

function answer(system: System, request: SystemCall[] | SystemQuestion): SystemAnswer {
  try {
    if (!Array.isArray(request)) return { error: undefined, isOpaque: isOpaque(system, request.isOpaque) };
    makeSystemCalls(system, request);
    return { error: undefined };
  } catch (error) {
    return { error: sendError(error) };
  }
}

function describeEnd(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new PodwrightError(
    'resource_exhausted',
    `unpack layer: its entries need more than ${MAX_WORKER_HEAP_MIB} MiB of memory`,
  );
}
