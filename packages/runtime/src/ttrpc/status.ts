import { type ErrorCode, errorCode, errorMessage, PodwrightError } from '@podwright/base';

/** The error classes by their gRPC status number, from 1 (https://grpc.io/docs/guides/status-codes/). */
const codes: readonly ErrorCode[] = [
  'cancelled',
  'unknown',
  'invalid_argument',
  'deadline_exceeded',
  'not_found',
  'already_exists',
  'permission_denied',
  'resource_exhausted',
  'failed_precondition',
  'aborted',
  'out_of_range',
  'unimplemented',
  'internal',
  'unavailable',
  'data_loss',
  'unauthenticated',
];

/** The most of an error's words that is sent. */
const maxMessageLength = 4096;

/** What is sent of an error. */
export function statusOfError(error: unknown): { code: number; message: string } {
  return { code: codes.indexOf(errorCode(error)) + 1, message: errorMessage(error).slice(0, maxMessageLength) };
}

/** The error that the other side sent; numbers that gRPC has not are `unknown`. */
export function errorOfStatus(what: string, { code, message }: { code: number; message: string }): PodwrightError {
  return new PodwrightError(codes[code - 1] ?? 'unknown', `${what}: ${message}`);
}
