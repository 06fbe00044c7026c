import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { LayerSystem, SystemCall } from './system-calls.ts';
import { receiveError, type SystemAnswer, type WorkerStart } from './worker-protocol.ts';

/** Calls that are put off at most: each holds an attribute of up to 64 KiB. */
const MAX_PENDING_CALLS = 256;

/** The worker's end: has the main thread make system calls, and sleeps meanwhile. */
export class RemoteSystem implements LayerSystem {
  readonly #port: MessagePort;
  readonly #signal: Int32Array<SharedArrayBuffer>;
  #pending: SystemCall[] = [];

  constructor({ systemPort, systemSignal }: WorkerStart) {
    this.#port = systemPort;
    this.#signal = new Int32Array(systemSignal);
  }

  add(call: SystemCall): void {
    this.#pending.push(call);
    if (this.#pending.length >= MAX_PENDING_CALLS) this.flush();
  }

  flush(): void {
    if (this.#pending.length === 0) return;
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage(this.#pending);
    this.#pending = [];
    Atomics.wait(this.#signal, 0, 0); // unbounded: the main thread ends this worker when the job is given up
    const { error } = receiveMessageOnPort(this.#port)!.message as SystemAnswer;
    if (error !== undefined) throw receiveError(error);
  }
}
