import { chmod, chown, lstat, mkdir, rename, rm } from 'node:fs/promises';
import { isErrno, OPEN_DIRECTORY, PRIVATE_DIRECTORY, SET_GROUP_ID } from '@podwright/base';
import { quantityValue } from '../api/quantity.ts';
import { allContainers, type Pod, type Volume } from '../api/types.ts';
import type { Mounter } from './mounter.ts';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';

/** `emptyDir`: a directory on the node's disk, or a tmpfs, that stays as long as the pod. */
export class EmptyDirPlugin implements VolumePlugin {
  readonly name = 'kubernetes.io/empty-dir';
  readonly #mounter: Mounter;

  constructor(mounter: Mounter) {
    this.#mounter = mounter;
  }

  supports(volume: Volume): boolean {
    return volume.emptyDir !== undefined;
  }

  async setUp({ pod, volume, directory }: VolumeRequest, signal: AbortSignal): Promise<string> {
    const isNew = !(await exists(directory));
    if (isNew) await makeOpenDirectory(directory, pod.spec.securityContext?.fsGroup);
    if (volume.emptyDir?.medium === 'Memory' && !(await this.#mounter.isMountPoint(directory))) {
      await this.#mounter.mountTmpfs(directory, tmpfsOptions(pod, volume), signal);
    }
    return directory;
  }
}

/** The directory is there only once it is right: after a crash half-way it is made again. */
async function makeOpenDirectory(directory: string, fsGroup: number | undefined): Promise<void> {
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: PRIVATE_DIRECTORY });
  if (fsGroup !== undefined) await chown(unfinished, 0, fsGroup);
  await chmod(unfinished, fsGroup === undefined ? OPEN_DIRECTORY : SET_GROUP_ID | OPEN_DIRECTORY);
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

/** A tmpfs may grow to the least of its own limit and what the pod may use of memory. */
export function tmpfsOptions(pod: Pod, volume: Volume): string[] {
  const sizes = [memoryLimit(pod), ownLimit(volume)].filter((size) => size !== undefined);
  const least = sizes.reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
  const fsGroup = pod.spec.securityContext?.fsGroup;
  const access = fsGroup === undefined ? ['mode=0777'] : ['mode=2777', `gid=${fsGroup}`];
  return [...access, ...(least === undefined ? [] : [`size=${least}`])];
}

function ownLimit(volume: Volume): bigint | undefined {
  const limit = volume.emptyDir?.sizeLimit;
  const bytes = limit === undefined ? 0n : quantityValue(limit);
  // zero means no limit, for the API as for tmpfs
  return bytes > 0n ? bytes : undefined;
}

/** The sum of the containers' limits, if each has one. */
function memoryLimit(pod: Pod): bigint | undefined {
  const limits = allContainers(pod.spec).map(({ resources }) => resources?.limits?.memory);
  if (limits.includes(undefined)) return undefined;
  return limits.reduce((sum, limit) => sum + quantityValue(limit!), 0n);
}
