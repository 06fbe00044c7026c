import { PodwrightError } from '@podwright/base';
import { absolutePath, type Device, invalid, type Mount, MountPropagation } from '@podwright/cri';
import type { HostConfig } from '../engine/engine-types.ts';
import { unsupported } from './unsupported.ts';

/**
 * The Engine's value for each mount propagation. For '', Docker chooses: rprivate, or rslave for a source inside or above its root
 * directory, where it rejects private propagation.
 */
const PROPAGATIONS: Record<MountPropagation, string> = {
  [MountPropagation.PROPAGATION_PRIVATE]: '',
  [MountPropagation.PROPAGATION_HOST_TO_CONTAINER]: 'rslave',
  [MountPropagation.PROPAGATION_BIDIRECTIONAL]: 'rshared',
};

/** Returns the CRI value for a mount propagation reported by the Engine. */
export function criPropagation(propagation: string): MountPropagation {
  if (propagation === 'rshared' || propagation === 'shared') return MountPropagation.PROPAGATION_BIDIRECTIONAL;
  if (propagation === 'rslave' || propagation === 'slave') return MountPropagation.PROPAGATION_HOST_TO_CONTAINER;
  return MountPropagation.PROPAGATION_PRIVATE;
}

/**
 * A mount, and how the Engine relabels its source for SELinux: `Z` uses this container's label, `z` a label shared by all containers. If
 * unset, the source keeps its label.
 */
export type LabelledMount = { mount: Mount; label?: 'Z' | 'z' };

/** Converts mounts to the Engine's configuration. Only `Binds` support relabeling, but their paths cannot contain a colon. */
export function mountConfig(mounts: LabelledMount[]): Pick<HostConfig, 'Mounts' | 'Binds'> {
  for (const { mount } of mounts) checkMount(mount);
  const binds = mounts.flatMap(({ mount, label }) => (label === undefined ? [] : [bindOf(mount, label)]));
  return {
    Mounts: mounts.filter(({ label }) => label === undefined).map(({ mount }) => mountOf(mount)),
    ...(binds.length > 0 && { Binds: binds }),
  };
}

function mountOf(mount: Mount): NonNullable<HostConfig['Mounts']>[number] {
  const propagation = PROPAGATIONS[mount.propagation];
  return {
    Type: 'bind',
    Source: mount.hostPath,
    Target: mount.containerPath,
    ReadOnly: mount.readonly,
    ...(propagation !== '' && { BindOptions: { Propagation: propagation } }),
  };
}

function bindOf(mount: Mount, label: string): string {
  const { hostPath, containerPath } = mount;
  const colon = [hostPath, containerPath].find((path) => path.includes(':'));
  if (colon !== undefined)
    throw invalid(
      `mount ${containerPath}: Docker cannot give "${colon}" an SELinux label, because the path has a colon`,
    );
  const options = [mount.readonly ? 'ro' : 'rw', label, PROPAGATIONS[mount.propagation]].filter((word) => word !== '');
  return `${hostPath}:${containerPath}:${options.join(',')}`;
}

function checkMount(mount: Mount): void {
  const containerPath = absolutePath('mounts.containerPath', mount.containerPath);
  const where = `mount ${containerPath}`;
  if ((mount.image?.image ?? '') !== '') throw unsupported(`an image as a volume (${where})`);
  absolutePath(`${where}: hostPath`, mount.hostPath);
  if (PROPAGATIONS[mount.propagation] === undefined)
    throw invalid(`${where}: propagation ${mount.propagation} is unknown`);
  if (mount.uidMappings.length > 0 || mount.gidMappings.length > 0)
    throw unsupported(`a mount with ID mappings (${where})`);
  if (mount.recursiveReadOnly)
    throw new PodwrightError(
      'failed_precondition',
      `${where}: Docker cannot mount it recursively read-only by API 1.41: what is mounted below stays writable`,
    );
}

/** Converts host devices to the Engine's configuration. Empty permissions mean `rwm`. */
export function deviceConfig(devices: Device[]): NonNullable<HostConfig['Devices']> {
  return devices.map(({ hostPath, containerPath, permissions }) => {
    const path = absolutePath('devices.hostPath', hostPath);
    if (!/^[rwm]{0,3}$/.test(permissions))
      throw invalid(`device ${path}: permissions "${permissions}" must consist of r, w, m`);
    const inside = containerPath === '' ? path : absolutePath(`device ${path}: containerPath`, containerPath);
    return { PathOnHost: path, PathInContainer: inside, CgroupPermissions: permissions || 'rwm' };
  });
}
