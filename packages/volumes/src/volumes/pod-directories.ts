import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';

/**
 * The pods' files and directories, in the layout of the kubelet's root directory:
 *
 *   <rootDir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<volume>
 *                       /volumeDevices/kubernetes.io~csi/<volume>   (symlinks to block devices)
 *                       /volume-subpaths/<volume>/<container>/<index>
 *                       /containers/<container>/<random>      (termination messages)
 *                       /etc-hosts
 *                       /ephemeral-containers.json    (containers that users added)
 *                       /userns   (ID mappings of the pod's user namespace)
 *   <rootDir>/claims/<namespace>/<claim>   (outlive pods: `ClaimVolumes`)
 *   <rootDir>/trash     (being removed)
 */
export class PodDirectories {
  readonly root: string;
  readonly trash: string;

  constructor(rootDir: string) {
    this.root = join(rootDir, 'pods');
    this.trash = join(rootDir, 'trash');
  }

  pod(uid: string): string {
    return join(this.root, oneName(uid));
  }

  volumes(uid: string): string {
    return join(this.pod(uid), 'volumes');
  }

  /** Returns the directory of a pod's volumes that belong to one plugin. */
  pluginVolumes(uid: string, plugin: string): string {
    return join(this.volumes(uid), directoryName(plugin));
  }

  /** Returns the directory of a pod's volume. `plugin` is the plugin's name, such as `kubernetes.io/empty-dir`. */
  volume(uid: string, plugin: string, volume: string): string {
    return join(this.pluginVolumes(uid, plugin), oneName(volume));
  }

  /** Returns the directory of the pod's symlinks to block devices, which contains a subdirectory for each volume plugin. */
  volumeDevices(uid: string): string {
    return join(this.pod(uid), 'volumeDevices');
  }

  /** Returns the directory of a pod's symlinks to the block devices of one volume plugin. */
  pluginDevices(uid: string, plugin: string): string {
    return join(this.volumeDevices(uid), directoryName(plugin));
  }

  volumeDevice(uid: string, plugin: string, volume: string): string {
    return join(this.pluginDevices(uid, plugin), oneName(volume));
  }

  subPaths(uid: string): string {
    return join(this.pod(uid), 'volume-subpaths');
  }

  subPath(uid: string, place: { volume: string; container: string; index: number }): string {
    return join(this.subPaths(uid), oneName(place.volume), oneName(place.container), String(place.index));
  }

  containers(uid: string, container: string): string {
    return join(this.pod(uid), 'containers', oneName(container));
  }

  ephemeralContainers(uid: string): string {
    return join(this.pod(uid), 'ephemeral-containers.json');
  }

  etcHosts(uid: string): string {
    return join(this.pod(uid), 'etc-hosts');
  }

  userNamespace(uid: string): string {
    return join(this.pod(uid), 'userns');
  }
}

/** Converts a plugin name to a directory name. */
export function directoryName(plugin: string): string {
  return plugin.replaceAll('/', '~');
}

/**
 * Returns the name if it is a single path component, otherwise throws. Names are validated on input; this is a second line of defense for
 * paths that are removed recursively.
 */
export function oneName(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw new PodwrightError('invalid_argument', `"${name}" cannot be the name of a directory`);
  }
  return name;
}
