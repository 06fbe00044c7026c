import { errorMessage, isErrno } from './errors.ts';

const CODES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM'];
/** The same shortages in the words of strerror(3), as programs print them. */
const WORDS =
  /no space left on device|disk quota exceeded|read-only file system|too many open files|cannot allocate memory/i;

/**
 * Whether an attempt failed because space, inodes, descriptors or memory have run out for now, or because the file system is
 * read-only. When a probe fails for such a reason, it is still unknown what the host supports.
 */
export function isShortage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (CODES.some((code) => isErrno(cause, code))) return true;
  return WORDS.test(errorMessage(error));
}
