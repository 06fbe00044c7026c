import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';
import type { OciDevice, SpecDevice } from '@podwright/oci';
import { deviceOf } from '@podwright/oci';

/** Directories in /dev that are separate file systems. Each container has its own. */
const OTHER_FILE_SYSTEMS = new Set(['pts', 'shm', 'fd', 'mqueue', '.lxc', '.lxd-mounts', '.udev']);
/** Maximum number of device nodes under one directory. */
const MAX_DEVICES = 4096;

/** Returns all device nodes under /dev, for a privileged container. Omits the console, because each container has its own. */
export async function listHostDevices(directory = '/dev'): Promise<OciDevice[]> {
  const found = await devicesBelow(directory, directory);
  const others = found.filter(({ path }) => path !== join(directory, 'console'));
  return others.map(({ hostPath: _, ...device }) => device);
}

/**
 * Returns the device nodes requested by a container: a single node, or all nodes under a directory. Follows symbolic links on the host.
 * Throws `invalid_argument` if no device is found, or if the permissions contain letters other than r, w and m.
 */
export async function resolveDevices(request: {
  hostPath: string;
  containerPath: string;
  permissions: string;
}): Promise<SpecDevice[]> {
  const { hostPath, permissions } = request;
  const access = permissions === '' ? 'rwm' : permissions;
  if (!/^[rwm]{1,3}$/.test(access))
    throw new PodwrightError('invalid_argument', `add device ${hostPath}: permissions ${access} are not of r, w, m`);
  const source = await realpath(hostPath).catch((error) => {
    throw wrapError(`add device ${hostPath}`, error, 'invalid_argument');
  });
  const target = posix.resolve('/', request.containerPath === '' ? hostPath : request.containerPath);
  const stats = await stat(source);
  const one = deviceOf(stats, target);
  const found = stats.isDirectory()
    ? await devicesBelow(source, target)
    : one === undefined
      ? []
      : [{ ...one, hostPath: source }];
  if (found.length === 0) throw new PodwrightError('invalid_argument', `add device ${hostPath}: it is not a device`);
  return found.map((device) => ({ ...device, access }));
}

async function devicesBelow(directory: string, target: string): Promise<Omit<SpecDevice, 'access'>[]> {
  const devices: Omit<SpecDevice, 'access'>[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    const placed = posix.join(target, entry.name);
    if (entry.isDirectory() && !OTHER_FILE_SYSTEMS.has(entry.name)) devices.push(...(await devicesBelow(path, placed)));
    if (entry.isCharacterDevice() || entry.isBlockDevice()) {
      const device = await lstat(path).then((stats) => deviceOf(stats, placed), ignoreMissing);
      if (device !== undefined) devices.push({ ...device, hostPath: path });
    }
    if (devices.length > MAX_DEVICES)
      throw new PodwrightError('resource_exhausted', `list devices: more than ${MAX_DEVICES} below ${directory}`);
  }
  return devices;
}

function ignoreMissing(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT')) throw error;
}
