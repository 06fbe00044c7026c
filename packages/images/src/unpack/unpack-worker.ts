/** The worker thread that unpacks layers: one job at a time, until it is ended from outside. */
import { parentPort, workerData } from 'node:worker_threads';
import { applyBlob, type UnpackJob } from './apply-blob.ts';
import { RemoteSystem } from './remote-system.ts';
import type { UnpackProgress } from './unpack-options.ts';
import { sendError, type WorkerMessage, type WorkerStart } from './worker-protocol.ts';

const PROGRESS_INTERVAL_MS = 100;

async function run(job: UnpackJob): Promise<WorkerMessage> {
  let reportedAtMs = performance.now();
  const onProgress = (progress: UnpackProgress) => {
    if (performance.now() - reportedAtMs < PROGRESS_INTERVAL_MS) return;
    reportedAtMs = performance.now();
    post({ type: 'progress', progress });
  };
  try {
    const system = new RemoteSystem(workerData as WorkerStart);
    return { type: 'done', result: await applyBlob(job, { system, onProgress }) };
  } catch (error) {
    return { type: 'failed', error: sendError(error) };
  }
}

function post(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', async (job: UnpackJob) => post(await run(job)));
