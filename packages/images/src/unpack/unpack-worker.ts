/** The worker thread that unpacks layers, one job at a time, until the main thread terminates it. */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { applyBlob, type UnpackJob } from './apply-blob.ts';
import type { LayerSystem, SystemCall } from './system-calls.ts';
import type { UnpackProgress } from './unpack-options.ts';
import {
  receiveError,
  type SystemAnswer,
  type SystemQuestion,
  sendError,
  type WorkerMessage,
  type WorkerRequest,
  type WorkerStart,
} from './worker-protocol.ts';

/** Maximum number of deferred system calls, each of which may contain an extended attribute of up to 64 KiB. */
const MAX_PENDING_CALLS = 256;

/** Sends system calls to the main thread and blocks until they have been made. */
class RemoteSystem implements LayerSystem {
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
    const calls = this.#pending;
    this.#pending = [];
    if (calls.length > 0) this.#request(calls);
  }

  isOpaque(path: Uint8Array): boolean {
    return this.#request({ isOpaque: path }).isOpaque === true;
  }

  #request(request: SystemCall[] | SystemQuestion): SystemAnswer {
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage(request);
    Atomics.wait(this.#signal, 0, 0); // unbounded: the main thread terminates this worker if the job is aborted
    const answer = receiveMessageOnPort(this.#port)!.message as SystemAnswer;
    if (answer.error !== undefined) throw receiveError(answer.error);
    return answer;
  }
}

/** Waits for the bytes of a blob that is being downloaded, as reported by the main thread. */
class Arrival {
  readonly #sizeBytes: number;
  #bytes = 0;
  #wake: () => void = () => undefined;
  #isOver = false;

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  grow(bytes: number): void {
    this.#bytes = bytes;
    this.#wake();
  }

  /** Stops waiting for further bytes and ends pending reads. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  readonly hasArrived = async (have: number): Promise<number> => {
    while (this.#bytes <= have && this.#bytes < this.#sizeBytes && !this.#isOver) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    return this.#bytes;
  };
}

const PROGRESS_INTERVAL_MS = 100;

async function run(job: UnpackJob, arrival: Arrival | undefined): Promise<WorkerMessage> {
  let reportedAtMs = performance.now();
  const onProgress = (progress: UnpackProgress) => {
    if (performance.now() - reportedAtMs < PROGRESS_INTERVAL_MS) return;
    reportedAtMs = performance.now();
    post({ type: 'progress', progress });
  };
  try {
    const system = new RemoteSystem(workerData as WorkerStart);
    return { type: 'done', result: await applyBlob(job, { system, onProgress, hasArrived: arrival?.hasArrived }) };
  } catch (error) {
    return { type: 'failed', error: sendError(error) };
  }
}

function post(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

let arrival: Arrival | undefined;

parentPort?.on('message', async (request: WorkerRequest) => {
  if (request.type === 'arrived') return arrival?.grow(request.bytes);
  const own = request.sizeBytes === undefined ? undefined : new Arrival(request.sizeBytes);
  arrival = own;
  const message = await run(request.job, own);
  own?.end(); // after a failure, a read may still be pending
  arrival = undefined;
  post(message);
});
