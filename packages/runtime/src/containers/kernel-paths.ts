import { lstat, stat, statfs } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';

/** Directories where every container has kernel file systems mounted. */
export const KERNEL_DIRECTORIES = ['/dev', '/proc', '/sys'];
/** PROC_SUPER_MAGIC of statfs(2). */
const PROC_MAGIC = 0x9fa0;
/** Files in /proc emulated by lxcfs with the container's own values. runc allows mounts over them too. */
const EMULATED = [
  'cpuinfo',
  'diskstats',
  'loadavg',
  'meminfo',
  'slabinfo',
  'stat',
  'swaps',
  'sys/crypto/fips_enabled',
  'sys/kernel/ns_last_pid',
  'uptime',
];

/**
 * Throws `invalid_argument` if the image's /dev, /proc or /sys is a symbolic link: OCI runtimes from before 2026 follow it and create
 * device nodes and links on the host (CVE-2026-41579 in runc, CVE-2026-47766 in crun).
 */
export async function checkKernelDirectories(rootfs: string, image: string): Promise<void> {
  const links = await Promise.all(KERNEL_DIRECTORIES.map((directory) => isLink(join(rootfs, directory))));
  const link = KERNEL_DIRECTORIES[links.indexOf(true)];
  if (link === undefined) return;
  throw new PodwrightError(
    'invalid_argument',
    `use image ${image}: its ${link} is a symbolic link; it must be a directory, or not exist`,
  );
}

/** A requested mount, before symbolic links in its destination are resolved. */
type RequestedMount = { destination: string; source: string; isImageVolume?: boolean };

/**
 * Throws `invalid_argument` if a mount's destination, with symbolic links resolved (`target`), is the root directory or is in a kernel file
 * system. OCI runtimes write AppArmor and SELinux labels through /proc (CVE-2019-16884); therefore, as in runc, the only allowed
 * destinations in /proc are /proc itself, for the host's /proc, and the files emulated by lxcfs. OCI runtimes also open /dev/null as root
 * and follow links, so only the host's /dev may be mounted on /dev. Other paths in /dev and /sys are allowed, but not through a symbolic
 * link.
 */
export async function checkMountTarget(mount: RequestedMount, target: string): Promise<void> {
  const problem = await problemOf(mount, target);
  if (problem === undefined) return;
  const what = mount.isImageVolume ? 'a volume of the image' : mount.source;
  throw new PodwrightError(
    'invalid_argument',
    `mount ${what} at ${mount.destination}: that is ${target}, ${problem}; mount it elsewhere`,
  );
}

async function problemOf({ destination, source }: RequestedMount, target: string): Promise<string | undefined> {
  if (target === '/') return 'the root of the container';
  const kernels = KERNEL_DIRECTORIES.find((one) => isWithin(one, target));
  if (kernels === undefined || isWithin('/dev/shm', target)) return undefined;
  if (kernels === '/proc') {
    if (EMULATED.includes(posix.relative('/proc', target)) || (target === '/proc' && (await isProc(source)))) return;
    return 'where only the kernel has files';
  }
  if (target === '/dev' && !(await isSameDirectory(source, '/dev'))) return "where only the host's /dev may be";
  return isWithin(kernels, posix.resolve('/', destination)) ? undefined : 'to which a symbolic link leads';
}

/** Whether `path` is `directory` or a path under it. Both must be absolute and normalized. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

async function isSameDirectory(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([stat(path), stat(other)]);
  return one.dev === two.dev && one.ino === two.ino;
}

async function isProc(path: string): Promise<boolean> {
  return await statfs(path).then(
    ({ type }) => type === PROC_MAGIC,
    () => false,
  );
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
