import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';

/** As the kernel's limit (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * The path that `path` leads to with `root` as its root directory: symbolic links, also absolute ones, never lead out. Parts
 * that do not exist are kept as they are, and so is what is below a directory of which `isCovered`, called with its path within
 * the root, says that something else will be mounted there. Only for trees that nothing changes meanwhile.
 */
export async function resolveInRoot(
  root: string,
  path: string,
  isCovered: (path: string) => boolean = () => false,
): Promise<string> {
  const left = path.split('/');
  let done: string[] = [];
  for (let links = 0; left.length > 0; ) {
    const part = left.shift()!;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      done = done.slice(0, -1);
      continue;
    }
    const target = await linkTarget(join(root, ...done, part));
    if (target === undefined) {
      done.push(part);
      if (isCovered(`/${done.join('/')}`)) return join(root, ...done, ...left);
      continue;
    }
    if (++links > MAX_LINKS) throw new PodwrightError('invalid_argument', `resolve ${path}: too many symbolic links`);
    if (target.startsWith('/')) done = [];
    left.unshift(...target.split('/'));
  }
  return join(root, ...done);
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}
