import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import { type ErrorCode, isErrno, PodwrightError, wrapError } from '@podwright/base';

const codes: Record<string, ErrorCode> = {
  ENOENT: 'not_found',
  ESRCH: 'not_found',
  ENODATA: 'not_found',
  ENODEV: 'not_found',
  EEXIST: 'already_exists',
  EPERM: 'permission_denied',
  EACCES: 'permission_denied',
  EROFS: 'permission_denied',
  ENOSPC: 'resource_exhausted',
  EDQUOT: 'resource_exhausted',
  ENOMEM: 'resource_exhausted',
  EMFILE: 'resource_exhausted',
  ENFILE: 'resource_exhausted',
  ENOBUFS: 'resource_exhausted',
  EINVAL: 'invalid_argument',
  ENAMETOOLONG: 'invalid_argument',
  ELOOP: 'invalid_argument',
  EBUSY: 'failed_precondition',
  ENOTEMPTY: 'failed_precondition',
  ENOTDIR: 'failed_precondition',
  EISDIR: 'failed_precondition',
  EAGAIN: 'unavailable',
  ENOSYS: 'unimplemented',
  ENOTSUP: 'unimplemented',
  EOPNOTSUPP: 'unimplemented',
};

/** Returns the error code for a system error such as `ENOENT`; `internal` if there is no better match. */
export function errnoErrorCode(name: string): ErrorCode {
  return codes[name] ?? 'internal';
}

/** Returns an errno's name and description for messages, such as `ENOENT` and `no such file or directory`. */
export function systemErrorText(errno: number): { name: string; description: string } {
  return { name: getSystemErrorName(-errno), description: getSystemErrorMessage(-errno) ?? 'no description' };
}

/** Creates the error for a failed system call. Its cause has `errno`, `code`, `syscall` and `path`, like node:fs errors. */
export function syscallError(syscall: string, path: string, errno: number): PodwrightError {
  const { name, description } = systemErrorText(errno);
  const cause = Object.assign(new Error(`${syscall} ${path}: ${description}`), {
    errno: -errno,
    code: name,
    syscall,
    path,
  });
  return new PodwrightError(errnoErrorCode(name), cause.message, { cause });
}

/**
 * Wraps a node:fs error in one whose message says what was attempted and whose code corresponds to the errno. Returns other errors
 * unchanged.
 */
export function wrapFileError(message: string, error: unknown): unknown {
  if (error instanceof PodwrightError || !(error instanceof Error)) return error;
  const name = (error as NodeJS.ErrnoException).code;
  if (name === undefined || !/^E[A-Z0-9]+$/.test(name)) return error;
  return wrapError(message, error, errnoErrorCode(name));
}

/** Returns true if `error` or its cause is the system error of this name. */
export function hasErrno(error: unknown, name: string): boolean {
  return isErrno(error, name) || (error instanceof Error && isErrno(error.cause, name));
}
