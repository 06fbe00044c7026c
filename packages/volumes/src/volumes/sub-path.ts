import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isErrno, POD_DIRECTORY, POD_FILE, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import { serverMounts } from '@podwright/system/mountinfo';
import type { Mounter } from './mounter.ts';
import { O_PATH } from './read-inside.ts';

export type SubPathMount = {
  volumePath: string;
  /** A relative path without `..`. */
  subPath: string;
  /** Target of the bind mount. Only this process writes there. */
  target: string;
};

/**
 * Mounts `subPath` of a volume at `target`. Containers may modify the volume concurrently and replace directories with symlinks to the
 * host. Therefore, each path component is opened without following symlinks, and the bind mount's source is the last open file instead of a
 * path. Existing symlinks may point anywhere inside the volume.
 */
export async function mountSubPath(mounter: Mounter, mount: SubPathMount, signal: AbortSignal): Promise<string> {
  await serverMounts.requireResponse(join(mount.volumePath, mount.subPath));
  await using file = await openInside(mount.volumePath, mount.subPath);
  const stats = await file.stat();
  if (await isMountedAt(mounter, mount.target, stats)) return mount.target;
  await makeTarget(mount.target, stats.isDirectory());
  await mounter.bindMount(`/proc/${process.pid}/fd/${file.fd}`, mount.target, signal);
  return mount.target;
}

/** Opens a path inside `root`, creating missing directories. */
async function openInside(root: string, path: string): Promise<FileHandle> {
  const realRoot = await realpath(root);
  const inside = await resolveInside(realRoot, path);
  const rootMode = (await lstat(realRoot)).mode & 0o7777;
  let current = await open(realRoot, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    for (const name of inside) {
      const next = await openOrMake(`/proc/self/fd/${current.fd}/${name}`, rootMode);
      await current.close();
      current = next;
      if ((await current.stat()).isSymbolicLink())
        throw escapes(root, path, `${name} is a link that leads nowhere or changes`);
    }
    return current;
  } catch (error) {
    await current.close();
    if (isErrno(error, 'ENOTDIR')) throw escapes(root, path, 'a part of it is a file');
    throw error;
  }
}

/** Returns the path's components with all symlinks resolved. Nonexistent trailing components are left unchanged. */
async function resolveInside(root: string, path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let existing = join(root, path); ; existing = dirname(existing)) {
    try {
      const real = relative(root, await realpath(existing));
      if (real === '..' || real.startsWith('../')) throw escapes(root, path, 'it leads out of the volume');
      return [...real.split('/'), ...missing].filter((name) => name !== '');
    } catch (error) {
      if (!isErrno(error, 'ENOENT') || existing === root) throw error;
      missing.unshift(existing.slice(existing.lastIndexOf('/') + 1));
    }
  }
}

async function openOrMake(path: string, mode: number): Promise<FileHandle> {
  const flags = O_PATH | constants.O_NOFOLLOW;
  try {
    return await open(path, flags);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  try {
    await mkdir(path, { mode: PRIVATE_DIRECTORY });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
  const directory = await open(path, flags);
  // chmod, because the umask must not affect shared directories; fchmod does not work with an O_PATH descriptor
  await withDescriptor(directory, async (writable) => writable.chmod(mode));
  return directory;
}

/** If `place` is a directory, calls `use` with a readable descriptor of it. */
async function withDescriptor(place: FileHandle, use: (file: FileHandle) => Promise<void>): Promise<void> {
  if (!(await place.stat()).isDirectory()) return;
  await using file = await open(`/proc/self/fd/${place.fd}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
  await use(file);
}

/** Returns true if the wanted file is already mounted at `target`. Otherwise, unmounts whatever is mounted there. */
async function isMountedAt(mounter: Mounter, target: string, wanted: Stats): Promise<boolean> {
  const mounts = await mounter.mountsBelow(target);
  if (mounts.length === 0) return false;
  const shown = await lstat(target);
  if (shown.dev === wanted.dev && shown.ino === wanted.ino) return true;
  for (const point of mounts) await mounter.unmount(point);
  return false;
}

async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(isDirectory ? target : dirname(target), { recursive: true, mode: POD_DIRECTORY });
  if (!isDirectory) await writeFile(target, '', { mode: POD_FILE, flag: 'wx' });
}

function escapes(root: string, path: string, why: string): PodwrightError {
  return new PodwrightError('failed_precondition', `subPath "${path}" of ${root}: ${why}`);
}
