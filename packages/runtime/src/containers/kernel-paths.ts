import { lstat, stat, statfs } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';

/** Where each container gets a file system of the kernel. */
export const KERNEL_PLACES = ['/dev', '/proc', '/sys'];
/** PROC_SUPER_MAGIC of statfs(2). */
const PROC_MAGIC = 0x9fa0;
/** Files of /proc that lxcfs shows with a container's own values; runc allows mounts on these, too. */
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
 * Refuses an image whose /dev, /proc or /sys is a symbolic link: OCI runtimes of before 2026 make device nodes and links where
 * that leads to on the host (CVE-2026-41579 of runc, CVE-2026-47766 of crun). `invalid_argument`.
 */
export async function checkKernelDirectories(rootfs: string, image: string): Promise<void> {
  const links = await Promise.all(KERNEL_PLACES.map((place) => isLink(join(rootfs, place))));
  const place = KERNEL_PLACES[links.indexOf(true)];
  if (place === undefined) return;
  throw new PodwrightError(
    'invalid_argument',
    `use image ${image}: its ${place} is a symbolic link; it must be a directory, or not be there`,
  );
}

/** A mount as it is asked for. */
type AskedMount = { destination: string; source: string; isImageVolume?: boolean };

/**
 * Refuses a mount whose place, with links followed, is the root or a file system of the kernel. `invalid_argument`.
 * In /proc (CVE-2019-16884) OCI runtimes write the labels of AppArmor and SELinux: as in runc, /proc of the host may be mounted on
 * /proc, and files may be on those that lxcfs emulates. In /dev they open `null` as root, and follow links in its place: on /dev
 * only that of the host may be mounted. Elsewhere in /dev and /sys a mount may be by its own path, not by a link.
 */
export async function checkMountPlace(mount: AskedMount, place: string): Promise<void> {
  const problem = await problemOf(mount, place);
  if (problem === undefined) return;
  const what = mount.isImageVolume ? 'a volume of the image' : mount.source;
  throw new PodwrightError(
    'invalid_argument',
    `mount ${what} at ${mount.destination}: that is ${place}, ${problem}; mount it elsewhere`,
  );
}

async function problemOf({ destination, source }: AskedMount, place: string): Promise<string | undefined> {
  if (place === '/') return 'the root of the container';
  const kernels = KERNEL_PLACES.find((one) => isWithin(one, place));
  if (kernels === undefined || isWithin('/dev/shm', place)) return undefined;
  if (kernels === '/proc') {
    if (EMULATED.includes(posix.relative('/proc', place)) || (place === '/proc' && (await isProc(source)))) return;
    return 'where only the kernel has files';
  }
  if (place === '/dev' && !(await isSameDirectory(source, '/dev'))) return "where only the host's /dev may be";
  return isWithin(kernels, posix.resolve('/', destination)) ? undefined : 'to which a symbolic link leads';
}

/** Whether a path is a directory or something in it; both are absolute and normal. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

async function isSameDirectory(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([stat(path), stat(other)]);
  return one.dev === two.dev && one.ino === two.ino;
}

/** A path that is not there yet, and will be made, is none. */
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
