import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage, isErrno, namesIn, removeIfEmpty } from '@podwright/base';
import type { Mounter } from '../volumes/mounter.ts';
import { oneName, type PodDirectories } from '../volumes/pod-directories.ts';
import { BLOCK_VOLUMES, CSI_PLUGIN, type CsiVolume, namedVolume, sha256 } from './csi-volume.ts';
import { allOf } from './mount-steps.ts';
import {
  type FoundVolumes,
  foundAt,
  isNoted,
  removeUnfinishedData,
  removeVolumeData,
  together,
} from './volume-data.ts';

/**
 * Where CSI volumes are, as upstream lays them out:
 *
 *   <rootDir>/pods/<uid>/volumes/kubernetes.io~csi/<volume>/{vol_data.json,mount}
 *   <rootDir>/plugins/kubernetes.io/csi/<driver>/<sha256 of the handle>/{vol_data.json,globalmount}
 */
export class CsiPlaces {
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

  /** Where all volumes of a pod are. */
  publishedRoot(podUid: string): string {
    return this.#pods.pluginVolumes(podUid, CSI_PLUGIN);
  }

  staged({ driver, handle }: Pick<CsiVolume, 'driver' | 'handle'>): string {
    return join(this.#staged, oneName(driver), sha256(handle));
  }

  /** Whether the volume of that name, as the node's status has it, is staged at this place, or at one in it. */
  isStagedAt(directory: string, uniqueName: string): boolean {
    const place = this.staged(namedVolume(uniqueName));
    return directory === place || directory === dirname(place);
  }

  /** The volumes of a pod that were published, or may have been. */
  async publishedOf(podUid: string): Promise<FoundVolumes> {
    return await foundIn(this.publishedRoot(podUid));
  }

  async allPublished(): Promise<FoundVolumes> {
    const pods = await namesIn(this.#pods.root);
    return together(await Promise.all(pods.map((uid) => this.publishedOf(uid))));
  }

  /** The volumes that were staged, or may have been. */
  async allStaged(): Promise<FoundVolumes> {
    const drivers = await namesIn(this.#staged);
    return together(await Promise.all(drivers.map((driver) => foundIn(join(this.#staged, driver)))));
  }

  /**
   * Removes what a kubelet has left that was killed before a volume was noted, or after it was forgotten. Rejects with the first that
   * does not go.
   */
  async removeUnnoted(): Promise<void> {
    const drivers = (await namesIn(this.#staged)).filter((name) => name !== BLOCK_VOLUMES);
    const places = drivers.map(async (driver) => placesIn(join(this.#staged, driver)));
    const remove = async (directory: string) => {
      const mountPath = join(directory, 'globalmount');
      if ((await isNoted(directory)) || (await this.isMounted(mountPath))) return;
      await removeUnfinishedData(directory);
      for (const path of [mountPath, directory]) await removeIfEmpty(path);
    };
    await allOf((await Promise.all(places)).flat().map(remove));
  }

  /** Whether something is mounted at the place that the driver was given. */
  isMounted(mountPath: string): Promise<boolean> {
    return this.#mounter.isMountPoint(mountPath);
  }

  /**
   * Removes an empty place and what is known of it. A place where something is mounted stays, and what is not empty too: nothing
   * of a volume is ever deleted.
   */
  async remove(mountPath: string): Promise<void> {
    if (await this.isMounted(mountPath)) return;
    await removeEmpty(mountPath);
    const directory = dirname(mountPath);
    await removeVolumeData(directory);
    await removeEmpty(directory);
  }
}

/** None in somebody's file. */
async function placesIn(directory: string): Promise<string[]> {
  const names = await namesIn(directory).catch((error: unknown) => {
    if (isErrno(error, 'ENOTDIR')) return [];
    throw error;
  });
  return names.map((name) => join(directory, name));
}

async function foundIn(directory: string): Promise<FoundVolumes> {
  try {
    return together(await Promise.all((await placesIn(directory)).map(foundAt)));
  } catch (error) {
    return { kept: [], unread: [{ directory, problem: errorMessage(error) }] };
  }
}

/** Some drivers publish a file. */
async function removeEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (isErrno(error, 'ENOTDIR')) await rm(path);
    else if (!isErrno(error, 'ENOENT')) throw error;
  }
}
