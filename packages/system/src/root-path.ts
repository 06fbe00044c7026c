import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';

/** As the kernel's limit (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * Mounts over places of a root, by their absolute paths in it: the host directory or file that is bound there, or undefined for a
 * new file system without links.
 */
export type Covers = ReadonlyMap<string, string | undefined>;

/**
 * The path that `path` leads to with `root` as its root directory: symbolic links, also absolute ones, never lead out. Parts
 * that do not exist are kept as they are. Below a mount of `covers`, the links are those of what is mounted there, and unless
 * `mayLeave` they must lead to something in the same mount. Nothing may change the tree at the same time.
 */
export async function resolveInRoot(
  root: string,
  path: string,
  { covers = new Map(), mayLeave = false }: { covers?: Covers; mayLeave?: boolean } = {},
): Promise<string> {
  const left = path.split('/');
  const done: string[] = [];
  let mountDepth = 0; // of the innermost mount with a followed link
  for (let links = 0; left.length > 0; ) {
    const part = left.shift()!;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (mountDepth > 0 && done.length <= mountDepth) throw leaves(path, done);
      done.pop();
      continue;
    }
    const { depth, file } = locate(root, [...done, part], covers);
    const target = file === undefined ? undefined : await linkTarget(file);
    if (target === undefined) {
      done.push(part);
      continue;
    }
    if (++links > MAX_LINKS) throw new PodwrightError('invalid_argument', `resolve ${path}: too many symbolic links`);
    if (!mayLeave) mountDepth = Math.max(mountDepth, depth);
    if (target.startsWith('/')) {
      if (mountDepth > 0) throw leaves(path, [...done, part]);
      done.length = 0;
    }
    left.unshift(...target.split('/'));
  }
  return join(root, ...done);
}

/** Where a place of the root is on the host, and how many parts the path of the mount has that it is in. */
function locate(root: string, place: string[], covers: Covers): { depth: number; file: string | undefined } {
  for (let depth = place.length; depth > 0; depth--) {
    const mountPoint = `/${place.slice(0, depth).join('/')}`;
    if (!covers.has(mountPoint)) continue;
    const source = covers.get(mountPoint);
    const isLinkless = source === undefined || depth === place.length;
    return { depth, file: isLinkless ? undefined : join(source, ...place.slice(depth)) };
  }
  return { depth: 0, file: join(root, ...place) };
}

function leaves(path: string, place: string[]): PodwrightError {
  return new PodwrightError(
    'invalid_argument',
    `resolve ${path}: /${place.join('/')} is a symbolic link that leads out of what is mounted above it; mount at the place where it leads`,
  );
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}
