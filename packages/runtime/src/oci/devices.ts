import type { Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';
import type { OciDevice } from './spec.ts';
import type { SpecDevice } from './spec-input.ts';

/** Folders of /dev that are file systems of their own, and so are made anew in each container. */
const otherFileSystems = new Set(['pts', 'shm', 'fd', 'mqueue', '.lxc', '.lxd-mounts', '.udev']);
/** The most nodes that are taken from one folder and those below it. */
const maxDevices = 4096;

/** Every device node below /dev, as a privileged container gets them; its console is its own. */
export async function listHostDevices(directory = '/dev'): Promise<OciDevice[]> {
  const found = await devicesBelow(directory, directory);
  const others = found.filter(({ path }) => path !== join(directory, 'console'));
  return others.map(({ hostPath: _, ...device }) => device);
}

/**
 * The device nodes that a container asks for: one node, or all of a folder. Symbolic links of the machine are followed.
 * `invalid_argument` if there is no device, or the permissions are other letters than r, w and m.
 */
export async function resolveDevices(asked: {
  hostPath: string;
  containerPath: string;
  permissions: string;
}): Promise<SpecDevice[]> {
  const { hostPath, permissions } = asked;
  const access = permissions === '' ? 'rwm' : permissions;
  if (!/^[rwm]{1,3}$/.test(access))
    throw new PodwrightError('invalid_argument', `give device ${hostPath}: permissions ${access} are not of r, w, m`);
  const source = await realpath(hostPath).catch((error) => {
    throw wrapError(`give device ${hostPath}`, error, 'invalid_argument');
  });
  const target = posix.resolve('/', asked.containerPath === '' ? hostPath : asked.containerPath);
  const stats = await stat(source);
  const one = deviceOf(stats, target);
  const found = stats.isDirectory()
    ? await devicesBelow(source, target)
    : one === undefined
      ? []
      : [{ ...one, hostPath: source }];
  if (found.length === 0) throw new PodwrightError('invalid_argument', `give device ${hostPath}: it is no device`);
  return found.map((device) => ({ ...device, access }));
}

async function devicesBelow(directory: string, target: string): Promise<Omit<SpecDevice, 'access'>[]> {
  const devices: Omit<SpecDevice, 'access'>[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    const placed = posix.join(target, entry.name);
    if (entry.isDirectory() && !otherFileSystems.has(entry.name)) devices.push(...(await devicesBelow(path, placed)));
    if (entry.isCharacterDevice() || entry.isBlockDevice()) {
      const device = await lstat(path).then((stats) => deviceOf(stats, placed), ignoreGone);
      if (device !== undefined) devices.push({ ...device, hostPath: path });
    }
    if (devices.length > maxDevices)
      throw new PodwrightError('resource_exhausted', `list devices: more than ${maxDevices} below ${directory}`);
  }
  return devices;
}

/** The device of a node; `undefined` if it is none. */
export function deviceOf(stats: Stats, path: string): OciDevice | undefined {
  if (!stats.isCharacterDevice() && !stats.isBlockDevice()) return undefined;
  const type = stats.isBlockDevice() ? 'b' : 'c';
  const { uid, gid } = stats;
  return { path, type, ...deviceNumbers(stats.rdev), fileMode: stats.mode & 0o7777, uid, gid };
}

/** Major and minor number as the C library packs them (makedev(3)). */
export function deviceNumbers(rdev: number): { major: number; minor: number } {
  const packed = BigInt(rdev);
  const major = ((packed >> 8n) & 0xfffn) | ((packed >> 32n) & ~0xfffn);
  const minor = (packed & 0xffn) | ((packed >> 12n) & 0xffffff00n);
  return { major: Number(major), minor: Number(minor) };
}

function ignoreGone(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT')) throw error;
}
