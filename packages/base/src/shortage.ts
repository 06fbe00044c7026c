import { errorMessage, isErrno } from './errors.ts';

const CODES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM'];
/** The same shortages as strerror(3) words them, which programs print. */
const WORDS =
  /no space left on device|disk quota exceeded|read-only file system|too many open files|cannot allocate memory/i;

/**
 * Whether an attempt failed because there is no space, no inode, no descriptor or no memory now, or the file system is read-only. Such
 * a failure of a probe shows nothing about what the host supports.
 */
export function isShortage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (CODES.some((code) => isErrno(cause, code))) return true;
  return WORDS.test(errorMessage(error));
}
