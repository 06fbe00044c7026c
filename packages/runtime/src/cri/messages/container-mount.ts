import { posix } from 'node:path';
import { absolutePath, type Device, invalid, type Mount, MountPropagation, plainText } from '@podwright/cri';
import type { ContainerDevice, ContainerMount } from '../../records/container-record.ts';
import { mountMappings } from './user-namespace.ts';

const PROPAGATIONS: Record<MountPropagation, ContainerMount['propagation']> = {
  [MountPropagation.PROPAGATION_PRIVATE]: 'private',
  [MountPropagation.PROPAGATION_HOST_TO_CONTAINER]: 'host-to-container',
  [MountPropagation.PROPAGATION_BIDIRECTIONAL]: 'bidirectional',
};

/** Converts and validates a mount of a host path or an image. Resolves `..` in paths, which cannot escape the container. */
export function containerMount(mount: Mount): ContainerMount {
  const containerPath = absolutePath('mounts.containerPath', mount.containerPath);
  if (posix.resolve(containerPath) === '/') throw invalid(`mounts.containerPath "${containerPath}" is the root itself`);
  const where = `mount ${containerPath}`;
  const propagation = PROPAGATIONS[mount.propagation];
  if (propagation === undefined) throw invalid(`${where}: propagation ${mount.propagation} is unknown`);
  if (mount.recursiveReadOnly && (!mount.readonly || propagation !== 'private')) {
    throw invalid(`${where}: recursiveReadOnly needs readonly and private propagation`);
  }
  const mappings = mountMappings(mount.uidMappings, mount.gidMappings, where);
  if (mappings !== undefined && propagation === 'bidirectional') {
    throw invalid(`${where}: a mount with ID mappings cannot be bidirectional`);
  }
  return {
    ...(mappings === undefined ? {} : { mappings }),
    containerPath,
    ...sourceOf(mount, where),
    readonly: mount.readonly,
    recursiveReadOnly: mount.recursiveReadOnly,
    propagation,
    selinuxRelabel: mount.selinuxRelabel,
  };
}

function sourceOf(
  { image, hostPath, imageSubPath }: Mount,
  where: string,
): Pick<ContainerMount, 'image' | 'hostPath' | 'imageSubPath'> {
  const reference = image?.image ?? '';
  if (reference === '') {
    return { image: '', hostPath: absolutePath(`${where}: hostPath`, hostPath), imageSubPath: '' };
  }
  if (hostPath !== '') throw invalid(`${where}: it has both an image and a hostPath`);
  if (imageSubPath.split('/').includes('..')) throw invalid(`${where}: imageSubPath "${imageSubPath}" has ".."`);
  return { image: reference, hostPath, imageSubPath: plainText(`${where}: imageSubPath`, imageSubPath) };
}

/** Converts and validates a device: a device node on the host, or a directory of device nodes. */
export function containerDevice({ containerPath, hostPath, permissions }: Device): ContainerDevice {
  if (!/^[rwm]{0,3}$/.test(permissions)) {
    throw invalid(`device ${hostPath}: permissions "${permissions}" are not of r, w, m`);
  }
  return {
    hostPath: absolutePath('devices.hostPath', hostPath),
    containerPath: containerPath === '' ? '' : absolutePath(`device ${hostPath}: containerPath`, containerPath),
    permissions,
  };
}
