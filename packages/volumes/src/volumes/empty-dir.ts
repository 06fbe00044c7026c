import { chmod, chown, lstat, mkdir, rename, rm } from 'node:fs/promises';
import { isErrno, OPEN_DIRECTORY, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import { type Pod, podTotals, quantityValue, type Volume } from '@podwright/kube-api';
import { hugePagesOptions } from './huge-pages.ts';
import type { Mounter } from './mounter.ts';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';
import { HUGE_PAGES_ROOT, rootModeFor, TMPFS_ROOT } from './volume-ownership.ts';

export type EmptyDirOptions = {
  mounter: Mounter;
  /** Total memory available to pods on the node. */
  nodeMemoryBytes: bigint;
};

/** `emptyDir`: a directory on the node's disk, a tmpfs, or huge pages. Removed along with the pod. */
export class EmptyDirPlugin implements VolumePlugin {
  readonly name = 'kubernetes.io/empty-dir';
  readonly #options: EmptyDirOptions;

  constructor(options: EmptyDirOptions) {
    this.#options = options;
  }

  supports(volume: Volume): boolean {
    return volume.emptyDir !== undefined;
  }

  async setUp({ pod, volume, directory }: VolumeRequest, signal: AbortSignal): Promise<string> {
    const { mounter, nodeMemoryBytes } = this.#options;
    const { medium = '', sizeLimit } = volume.emptyDir!;
    if (!['', 'Memory'].includes(medium) && !medium.startsWith('HugePages'))
      throw new PodwrightError('failed_precondition', `unknown storage medium "${medium}"`);
    await makeOpenDirectory(directory, pod);
    if (medium === '' || (await mounter.isMountPoint(directory))) return directory;
    if (medium === 'Memory')
      await mounter.mountTmpfs(directory, tmpfsOptions({ pod, sizeLimit, nodeMemoryBytes }), signal);
    else {
      const options = [hugePagesOptions(medium, pod), ...accessOptions(HUGE_PAGES_ROOT, pod)];
      await mounter.mount({ type: 'hugetlbfs', source: 'nodev', target: directory, options }, signal);
      // hugetlbfs ignores the set-group-id bit of its mode option
      await chmod(directory, rootModeFor(HUGE_PAGES_ROOT, pod.spec.securityContext?.fsGroup));
    }
    return directory;
  }
}

/**
 * Creates a directory that everyone may write to, unless it exists. It is renamed into place, so that it appears with its final owner and
 * mode.
 */
export async function makeOpenDirectory(directory: string, pod: Pod, mode = OPEN_DIRECTORY): Promise<void> {
  if (await exists(directory)) return;
  const group = pod.spec.securityContext?.fsGroup;
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: PRIVATE_DIRECTORY });
  if (group !== undefined) await chown(unfinished, 0, group);
  await chmod(unfinished, rootModeFor(mode, group));
  await rename(unfinished, directory);
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

export type TmpfsLimits = { pod: Pod; sizeLimit?: string; nodeMemoryBytes: bigint };

/**
 * Returns the mount options of a tmpfs. The size is the minimum of the volume's `sizeLimit`, the pod's memory limit, and the node's
 * allocatable memory.
 */
export function tmpfsOptions({ pod, sizeLimit, nodeMemoryBytes }: TmpfsLimits): string[] {
  const limits = [
    nodeMemoryBytes,
    podTotals(pod).memoryLimitBytes,
    sizeLimit === undefined ? 0n : quantityValue(sizeLimit),
  ];
  // zero means no limit, both in the API and for tmpfs
  const [least] = limits.filter((limit) => limit > 0n).sort((a, b) => (a < b ? -1 : 1));
  return [...(least === undefined ? [] : [`size=${least}`]), ...accessOptions(TMPFS_ROOT, pod)];
}

/** Returns the mode and group options. Without an fsGroup, the root directory keeps the kernel's default mode, as in upstream. */
function accessOptions(mode: number, { spec }: Pod): string[] {
  const group = spec.securityContext?.fsGroup;
  return group === undefined ? [] : [`mode=${rootModeFor(mode, group).toString(8)}`, `gid=${group}`];
}
