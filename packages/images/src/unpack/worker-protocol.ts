import type { MessagePort } from 'node:worker_threads';
import { type ErrorCode, errorCode, errorMessage, PodwrightError } from '@podwright/base';
import type { UnpackJob } from './apply-blob.ts';
import type { UnpackProgress, UnpackResult } from './unpack-options.ts';

/**
 * A worker's workerData. The worker sends a list of `SystemCall`s or a `SystemQuestion` through `systemPort` and blocks on `systemSignal`,
 * a single 32-bit word, until the main thread has made the calls, posted a `SystemAnswer` and set the word to 1.
 */
export type WorkerStart = { systemPort: MessagePort; systemSignal: SharedArrayBuffer };

/**
 * Messages to a worker: one job at a time and, if its blob is still being downloaded (`sizeBytes` in total), the number of bytes received
 * so far. `arrived` messages after the end of the job are ignored.
 */
export type WorkerRequest =
  | { type: 'unpack'; job: UnpackJob; sizeBytes: number | undefined }
  | { type: 'arrived'; bytes: number };

/** Messages from a worker. Each job ends with exactly one `done` or `failed`. */
export type WorkerMessage =
  | { type: 'progress'; progress: UnpackProgress }
  | { type: 'done'; result: UnpackResult }
  | { type: 'failed'; error: SentError };

/** The main thread's answer to a worker. `isOpaque` is set in response to a question. */
export type SystemAnswer = { error: SentError | undefined; isOpaque?: boolean };

/** A question from a worker, sent the same way as system calls: whether a directory is opaque. */
export type SystemQuestion = { isOpaque: Uint8Array };

/** An error in the form sent between threads. Its class is not preserved. */
export type SentError = { code: ErrorCode; message: string };

export function sendError(error: unknown): SentError {
  return { code: errorCode(error), message: errorMessage(error) };
}

export function receiveError({ code, message }: SentError): PodwrightError {
  return new PodwrightError(code, message);
}
