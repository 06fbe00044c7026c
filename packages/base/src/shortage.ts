import { errorMessage, isErrno } from './errors.ts';

const CODES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM'];
/** Matches the strerror(3) texts of CODES in the output of programs. */
const WORDS =
  /no space left on device|disk quota exceeded|read-only file system|too many open files|cannot allocate memory/i;

/**
 * Whether an operation failed because disk space, inodes, file descriptors or memory are temporarily exhausted, or because the file system
 * is read-only. A feature probe that fails for such a reason is inconclusive.
 */
export function isShortage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (CODES.some((code) => isErrno(cause, code))) return true;
  return WORDS.test(errorMessage(error));
}
