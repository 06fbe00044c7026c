import type { MessagePort } from 'node:worker_threads';
import { type ErrorCode, errorCode, errorMessage, PodwrightError } from '@podwright/base';
import type { UnpackJob } from './apply-blob.ts';
import type { UnpackProgress, UnpackResult } from './unpack-options.ts';

/**
 * What a worker is started with. It sends lists of `SystemCall` through `systemPort` and sleeps on `systemSignal`, one 32-bit
 * word, until the main thread has made them, posted a `SystemAnswer` and set the word to 1.
 */
export type WorkerStart = { systemPort: MessagePort; systemSignal: SharedArrayBuffer };

/**
 * What a worker is sent: one job at a time, and for one whose blob is still coming (`sizeBytes` in all) how many of its bytes
 * are there. What is said of the bytes after the job has ended is not heard.
 */
export type WorkerRequest =
  | { type: 'unpack'; job: UnpackJob; sizeBytes: number | undefined }
  | { type: 'arrived'; bytes: number };

/** What a worker says of its job: each ends with one `done` or `failed`. */
export type WorkerMessage =
  | { type: 'progress'; progress: UnpackProgress }
  | { type: 'done'; result: UnpackResult }
  | { type: 'failed'; error: SentError };

export type SystemAnswer = { error: SentError | undefined };

/** An error on its way between threads, where classes are lost. */
export type SentError = { code: ErrorCode; message: string };

export function sendError(error: unknown): SentError {
  return { code: errorCode(error), message: errorMessage(error) };
}

export function receiveError({ code, message }: SentError): PodwrightError {
  return new PodwrightError(code, message);
}
