import { isSystemError, systemErrorMessage } from './system-error-message.ts';

/** The closed set of error codes, one for each gRPC status code (https://grpc.io/docs/guides/status-codes/). */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The error codes in gRPC status order, starting at 1. */
const ERROR_CODES = [
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
] as const;

/** Returns the gRPC status number of an error code, such as 5 for `not_found`. */
export function statusNumber(code: ErrorCode): number {
  return ERROR_CODES.indexOf(code) + 1;
}

/** Returns the error code for a gRPC status number; `unknown` if gRPC does not define it. */
export function errorCodeOfStatus(status: number): ErrorCode {
  return ERROR_CODES[status - 1] ?? 'unknown';
}

/** The only error class thrown by Podwright. Its message says what was attempted and on which object. */
export class PodwrightError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'PodwrightError';
    this.code = code;
  }
}

/** System and SQLite error codes for a full disk or an exceeded quota. */
const FULL_DISK = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'];

/**
 * Returns the error code for any thrown value: its own `code` if that is an error code, as in a `PodwrightError` or a plugin's error; the
 * matching code for aborts, timeouts and full disks; otherwise `unknown`.
 */
export function errorCode(error: unknown): ErrorCode {
  const code =
    error instanceof Error ? ERROR_CODES.find((known) => known === (error as { code?: unknown }).code) : undefined;
  if (code !== undefined) return code;
  if (FULL_DISK.some((full) => isErrno(error, full))) return 'resource_exhausted';
  if (error instanceof Error && error.name === 'TimeoutError') return 'deadline_exceeded';
  if (error instanceof Error && error.name === 'AbortError') return 'cancelled';
  return 'unknown';
}

/**
 * Returns the error's message followed by those of its causes, without repetition. System errors are worded by `systemErrorMessage`. A
 * system error that caused a `PodwrightError` is omitted, because the `PodwrightError`'s message already covers it.
 */
export function errorMessage(error: unknown): string {
  return messageAfter('', error);
}

/**
 * Returns the text of an error to append to `context`. The object of a system error, such as a path, is omitted if `context` already names
 * it.
 */
function messageAfter(context: string, error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = isSystemError(error) ? systemErrorMessage(error, context) : error.message;
  if (error.cause === undefined || (error instanceof PodwrightError && isSystemError(error.cause))) return message;
  const cause = messageAfter(message, error.cause);
  return message.includes(cause) ? message : `${message}: ${cause}`;
}

/** Wraps `cause` in an error whose message says what was attempted. Keeps the code of `cause` unless `code` is given. */
export function wrapError(message: string, cause: unknown, code: ErrorCode = errorCode(cause)): PodwrightError {
  return new PodwrightError(code, `${message}: ${messageAfter(message, cause)}`, { cause });
}

export const isNotFound = (error: unknown): boolean => errorCode(error) === 'not_found';
export const isAlreadyExists = (error: unknown): boolean => errorCode(error) === 'already_exists';
export const isDeadlineExceeded = (error: unknown): boolean => errorCode(error) === 'deadline_exceeded';
export const isUnimplemented = (error: unknown): boolean => errorCode(error) === 'unimplemented';
export const isCancelled = (error: unknown): boolean => errorCode(error) === 'cancelled';

/**
 * Returns true if the error means that nothing exists at a path, or that nothing can exist there because a parent is not a directory or a
 * name is too long.
 */
export function isNothingThere(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].some((code) => isErrno(error, code));
}

/** Returns true if `error` is a system error with this `code`, such as `ENOENT`. */
export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
