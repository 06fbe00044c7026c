import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage, isErrno } from '@podwright/base';
import { namesIn, removeIfEmpty } from '@podwright/host';
import { CSI_PLUGIN } from '@podwright/kube-api';
import type { Mounter } from '../volumes/mounter.ts';
import { oneName, type PodDirectories } from '../volumes/pod-directories.ts';
import { BLOCK_VOLUMES, type CsiVolume, namedVolume, sha256 } from './csi-volume.ts';
import { allOf } from './mount-steps.ts';
import {
  type FoundVolumes,
  isRecorded,
  mergeFound,
  removeUnfinishedData,
  removeVolumeData,
  volumeIn,
} from './volume-data.ts';

/**
 * The paths of CSI file system volumes, in upstream's layout:
 *
 *   <rootDir>/pods/<uid>/volumes/kubernetes.io~csi/<volume>/{vol_data.json,mount}
 *   <rootDir>/plugins/kubernetes.io/csi/<driver>/<sha256 of the handle>/{vol_data.json,globalmount}
 */
export class CsiPaths {
  readonly #pods: PodDirectories;
  readonly #staged: string;
  readonly #mounter: Mounter;

  constructor({ pods, rootDir, mounter }: { pods: PodDirectories; rootDir: string; mounter: Mounter }) {
    this.#pods = pods;
    this.#staged = join(rootDir, 'plugins', CSI_PLUGIN);
    this.#mounter = mounter;
  }

  published(podUid: string, { name }: Pick<CsiVolume, 'name'>): string {
    return this.#pods.volume(podUid, CSI_PLUGIN, name);
  }

  /** Returns the directory of a pod's CSI volumes. */
  publishedRoot(podUid: string): string {
    return this.#pods.pluginVolumes(podUid, CSI_PLUGIN);
  }

  staged({ driver, handle }: Pick<CsiVolume, 'driver' | 'handle'>): string {
    return join(this.#staged, oneName(driver), sha256(handle));
  }

  /** Whether the volume with this unique name (as in the node status) is staged in the directory or directly under it. */
  isStagedAt(directory: string, uniqueName: string): boolean {
    const place = this.staged(namedVolume(uniqueName));
    return directory === place || directory === dirname(place);
  }

  /** Returns the pod's volumes that are, or may still be, published. */
  async publishedOf(podUid: string): Promise<FoundVolumes> {
    return await foundIn(this.publishedRoot(podUid));
  }

  async allPublished(): Promise<FoundVolumes> {
    const pods = await namesIn(this.#pods.root);
    return mergeFound(await Promise.all(pods.map((uid) => this.publishedOf(uid))));
  }

  /** Returns the volumes that are, or may still be, staged. */
  async allStaged(): Promise<FoundVolumes> {
    const drivers = await namesIn(this.#staged);
    return mergeFound(await Promise.all(drivers.map((driver) => foundIn(join(this.#staged, driver)))));
  }

  /**
   * Removes volume directories without a `vol_data.json` file, left behind if the kubelet was killed before writing the file or after
   * deleting it. Rejects with the first failure.
   */
  async removeUnrecorded(): Promise<void> {
    const drivers = (await namesIn(this.#staged)).filter((name) => name !== BLOCK_VOLUMES);
    const paths = drivers.map(async (driver) => placesIn(join(this.#staged, driver)));
    const remove = async (directory: string) => {
      const mountPath = join(directory, 'globalmount');
      if ((await isRecorded(directory)) || (await this.isMounted(mountPath))) return;
      await removeUnfinishedData(directory);
      for (const path of [mountPath, directory]) await removeIfEmpty(path);
    };
    await allOf((await Promise.all(paths)).flat().map(remove));
  }

  /** Whether anything is mounted at the driver's target path. */
  isMounted(mountPath: string): Promise<boolean> {
    return this.#mounter.isMountPoint(mountPath);
  }

  /**
   * Removes an empty mount point and its record. A mount point in use or a non-empty directory is left in place: volume data is never
   * deleted.
   */
  async remove(mountPath: string): Promise<void> {
    if (await this.isMounted(mountPath)) return;
    await removeEmpty(mountPath);
    const directory = dirname(mountPath);
    await removeVolumeData(directory);
    await removeEmpty(directory);
  }
}

/** Returns the paths of a directory's entries; empty if the path is a file. */
async function placesIn(directory: string): Promise<string[]> {
  const names = await namesIn(directory).catch((error: unknown) => {
    if (isErrno(error, 'ENOTDIR')) return [];
    throw error;
  });
  return names.map((name) => join(directory, name));
}

async function foundIn(directory: string): Promise<FoundVolumes> {
  try {
    return mergeFound(await Promise.all((await placesIn(directory)).map(volumeIn)));
  } catch (error) {
    return { recorded: [], unread: [{ directory, problem: errorMessage(error) }] };
  }
}

/** Removes an empty directory, or a file, since some drivers publish files. */
async function removeEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (isErrno(error, 'ENOTDIR')) await rm(path);
    else if (!isErrno(error, 'ENOENT')) throw error;
  }
}
