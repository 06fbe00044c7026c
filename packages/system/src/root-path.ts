import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';

/** Kernel limit on the number of symbolic links followed when resolving a path (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * The mounts inside a root directory, by absolute path within it. Each value is the host directory or file bind-mounted there, or
 * `undefined` for a new file system, which contains no symbolic links.
 */
export type Covers = ReadonlyMap<string, string | undefined>;

/**
 * Resolves `path` within `root`: symbolic links never lead out of it, not even absolute ones. Nonexistent components are left unchanged.
 * Under a mount in `covers`, symbolic links are read from the mount's source; unless `mayLeave` is set, they must not lead out of that
 * mount. The directory tree must not change during the call.
 */
export async function resolveInRoot(
  root: string,
  path: string,
  { covers = new Map(), mayLeave = false }: { covers?: Covers; mayLeave?: boolean } = {},
): Promise<string> {
  const pending = path.split('/');
  const done: string[] = [];
  let mountDepth = 0; // depth of the innermost mount in which a link was followed
  for (let links = 0; pending.length > 0; ) {
    const part = pending.shift()!;
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
    pending.unshift(...target.split('/'));
  }
  return join(root, ...done);
}

/**
 * Locates a path within the root, given as its components, so that the caller can check whether it is a symbolic link. `file` is the path
 * on the host; `undefined` for mount points and for paths in a new file system, which cannot be symbolic links. `depth` is the number of
 * leading components that form the path of the mount point containing it.
 */
function locate(root: string, parts: string[], covers: Covers): { depth: number; file: string | undefined } {
  for (let depth = parts.length; depth > 0; depth--) {
    const mountPoint = `/${parts.slice(0, depth).join('/')}`;
    if (!covers.has(mountPoint)) continue;
    const source = covers.get(mountPoint);
    const isLinkless = source === undefined || depth === parts.length;
    return { depth, file: isLinkless ? undefined : join(source, ...parts.slice(depth)) };
  }
  return { depth: 0, file: join(root, ...parts) };
}

function leaves(path: string, parts: string[]): PodwrightError {
  return new PodwrightError(
    'invalid_argument',
    `resolve ${path}: /${parts.join('/')} is a symbolic link that leads out of the mount above it; mount at its target instead`,
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
