import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isErrno } from '@podwright/base';

/**
 * The path of the same file without symbolic links, as the kernel shows it in mountinfo (proc(5)). Trailing components that do not
 * exist stay as they are. `path` must be absolute.
 */
export function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    return join(withoutLinks(dirname(path)), basename(path));
  }
}
