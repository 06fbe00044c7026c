import { lstat, statfs } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';
import { resolveInRoot } from '@podwright/system';

/** Where each container gets a file system of the kernel. */
const KERNEL_DIRECTORIES = ['dev', 'proc', 'sys'];
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
  const links = await Promise.all(KERNEL_DIRECTORIES.map((name) => isLink(join(rootfs, name))));
  const name = KERNEL_DIRECTORIES[links.indexOf(true)];
  if (name === undefined) return;
  throw new PodwrightError(
    'invalid_argument',
    `use image ${image}: its /${name} is a symbolic link; it must be a directory, or not be there`,
  );
}

/**
 * Refuses a mount over /proc or something in it, also where a link of the image leads to there (CVE-2019-16884): OCI runtimes
 * write the labels of AppArmor and SELinux there. As in runc, /proc of the host may be mounted on /proc, and files may be on
 * those that lxcfs emulates. `source` is undefined for a volume of the image. `invalid_argument`.
 */
export async function checkMountPath(rootfs: string, destination: string, source: string | undefined): Promise<void> {
  const path = relative(join(rootfs, 'proc'), await resolveInRoot(rootfs, destination));
  if (path === '..' || path.startsWith('../') || EMULATED.includes(path)) return;
  if (path === '' && source !== undefined && (await isProc(source))) return;
  throw new PodwrightError(
    'invalid_argument',
    `mount ${source ?? 'a volume of the image'} at ${destination}: that is /proc${path === '' ? '' : `/${path}`}, ` +
      'where only the kernel has files; mount it elsewhere',
  );
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
