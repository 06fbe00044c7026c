import { readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';
import { unescapeMountPath } from '../files/mount-path.ts';

/** Size of the first read: larger than most cgroup files, and small enough to be allocated from Node.js's buffer pool. */
const SMALL_FILE_BYTES = 2048;

/**
 * The host's cgroup setup: `v1` (one hierarchy per controller), `v2` (a single hierarchy), or `hybrid` (v1 hierarchies plus a v2 hierarchy,
 * which can have some of the controllers).
 */
export type CgroupMode = 'v1' | 'hybrid' | 'v2';

/** A mounted cgroup hierarchy. A named v1 hierarchy without a controller is listed in `controllers` by its name, as in `name=systemd`. */
export type CgroupTree = { version: 1 | 2; mountPoint: string; controllers: string[] };

/** The host's cgroup hierarchies, as seen by this process. */
export type CgroupHierarchy = {
  mode: CgroupMode;
  trees: CgroupTree[];
};

/**
 * Contents of the files that determine the cgroup hierarchies: /proc/self/mountinfo, /proc/self/cgroup, and `cgroup.controllers` in the
 * root of the v2 hierarchy.
 */
export type CgroupSources = { mountinfo: string; selfCgroup: string; unifiedControllers: string };

/** Determines the cgroup hierarchies from the contents of files in /proc and /sys (cgroups(7), proc_pid_mountinfo(5)). */
export function parseCgroupHierarchy(sources: CgroupSources): CgroupHierarchy {
  const known = v1Controllers(sources.selfCgroup);
  const trees: CgroupTree[] = [];
  for (const mount of cgroupMounts(sources.mountinfo)) {
    const controllers =
      mount.version === 2
        ? sources.unifiedControllers.split(/\s+/).filter((name) => name !== '')
        : mount.options.filter((option) => known.has(option));
    if (mount.version === 1 && controllers.length === 0) continue;
    const seen = trees.some((tree) => tree.version === mount.version && sameTree(tree.controllers, controllers));
    if (!seen) trees.push({ version: mount.version, mountPoint: mount.mountPoint, controllers });
  }
  const versions = new Set(trees.map((tree) => tree.version));
  const mode = !versions.has(1) ? 'v2' : versions.has(2) ? 'hybrid' : 'v1';
  return { mode, trees };
}

/** Finds this host's cgroup hierarchies. Rejects with `failed_precondition` if none is mounted. */
export async function discoverCgroups(): Promise<CgroupHierarchy> {
  const [mountinfo, selfCgroup] = await Promise.all([
    readFile('/proc/self/mountinfo', 'utf8'),
    readFile('/proc/self/cgroup', 'utf8'),
  ]);
  const unified = cgroupMounts(mountinfo).find((mount) => mount.version === 2);
  const unifiedControllers =
    unified === undefined ? '' : await readCgroupFile(join(unified.mountPoint, 'cgroup.controllers'));
  const hierarchy = parseCgroupHierarchy({ mountinfo, selfCgroup, unifiedControllers: unifiedControllers ?? '' });
  if (hierarchy.trees.length === 0)
    throw new PodwrightError(
      'failed_precondition',
      'find control groups: no cgroup file system is mounted; mount cgroup2 at /sys/fs/cgroup',
    );
  return hierarchy;
}

/** Returns the cgroup hierarchy that has `controller`, or `undefined` if the host lacks that controller. */
export function treeOf(hierarchy: CgroupHierarchy, controller: string): CgroupTree | undefined {
  return hierarchy.trees.find((tree) => tree.controllers.includes(controller));
}

/**
 * Returns the directory of cgroup `path` in a hierarchy. Throws `invalid_argument` unless the path is absolute and normalized, so that it
 * cannot escape from the hierarchy.
 */
export function cgroupDirectory(tree: CgroupTree, path: string): string {
  if (!path.startsWith('/') || posix.normalize(path) !== path || path.includes('\0'))
    throw new PodwrightError('invalid_argument', `cgroup path ${JSON.stringify(path)} is not absolute and normal`);
  return join(tree.mountPoint, path);
}

/**
 * Reads a cgroup file. Returns `undefined` if the file or the cgroup does not exist, or if the kernel does not support reading the file
 * (the kernel's EOPNOTSUPP, which Node.js calls ENOTSUP).
 */
export async function readCgroupFile(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file);
    // `readFile` would allocate 64 KiB for each file, because the kernel reports no size for cgroup files
    for (let text = ''; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(SMALL_FILE_BYTES));
      if (bytesRead === 0) return text;
      text += buffer.toString('latin1', 0, bytesRead);
    }
  } catch (error) {
    return undefinedIfMissing(error);
  }
}

/** Like `readCgroupFile`, but synchronous. For files that the kernel generates quickly. */
export function readCgroupFileSync(file: string | Buffer): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return undefinedIfMissing(error);
  }
}

/** Returns `undefined` if the error means that the cgroup or file does not exist or cannot be read. Throws any other error. */
function undefinedIfMissing(error: unknown): undefined {
  if (!['ENOENT', 'ENODEV', 'ENOTDIR', 'ENOTSUP'].some((code) => isErrno(error, code))) throw error;
}

type CgroupMount = { version: 1 | 2; mountPoint: string; options: string[] };

function cgroupMounts(mountinfo: string): CgroupMount[] {
  const mounts: CgroupMount[] = [];
  for (const line of mountinfo.split('\n')) {
    const [left, right] = line.split(' - ');
    const mountPoint = left?.split(' ')[4];
    const [type, , options] = right?.split(' ') ?? [];
    if (mountPoint === undefined || (type !== 'cgroup' && type !== 'cgroup2')) continue;
    const version = type === 'cgroup' ? 1 : 2;
    mounts.push({ version, mountPoint: unescapeMountPath(mountPoint), options: options?.split(',') ?? [] });
  }
  return mounts;
}

/** Returns the names of v1 controllers and named hierarchies, from the second column of /proc/self/cgroup. */
function v1Controllers(selfCgroup: string): Set<string> {
  return new Set(
    selfCgroup
      .split('\n')
      .flatMap((line) => (line.split(':')[1] ?? '').split(','))
      .filter(Boolean),
  );
}

const sameTree = (left: string[], right: string[]) => left.join() === right.join();
