import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isErrno } from '@podwright/base';

/**
 * Resolves the symbolic links in `path`, which must be absolute, and returns the path that the kernel shows in mountinfo (proc(5)).
 * Trailing components that do not exist are kept unchanged.
 */
export function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    return join(withoutLinks(dirname(path)), basename(path));
  }
}
