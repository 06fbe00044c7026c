import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { namesIn, removeIfEmpty } from '@podwright/base';
import type { DevicePlaces } from '../volumes/device-maps.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { oneName, type PodDirectories } from '../volumes/pod-directories.ts';
import { BLOCK_VOLUMES, CSI_PLUGIN } from './csi-volume.ts';
import { allOf } from './mount-steps.ts';
import { foundAt, isNoted, together, type UnreadPlace, type VolumeData } from './volume-data.ts';

/** A block volume, by the name of its PersistentVolume. */
export type KeptBlockVolume = { name: string; data: VolumeData };

/**
 * Where block volumes of CSI drivers are, as upstream lays them out:
 *
 *   <rootDir>/pods/<uid>/volumeDevices/kubernetes.io~csi/<volume>   (a link to the device)
 *   <rootDir>/plugins/kubernetes.io/csi/volumeDevices/<volume>/data/vol_data.json
 *                                                    /<volume>/dev/<uid>   (the device, bound)
 *                                                    /staging/<volume>
 *                                                    /publish/<volume>/<uid>
 */
export class CsiBlockPlaces {
  readonly #pods: PodDirectories;
  readonly #root: string;
  readonly #mounter: Mounter;

  constructor({ pods, rootDir, mounter }: { pods: PodDirectories; rootDir: string; mounter: Mounter }) {
    this.#pods = pods;
    this.#root = join(rootDir, 'plugins', CSI_PLUGIN, BLOCK_VOLUMES);
    this.#mounter = mounter;
  }

  mapped(podUid: string, name: string): DevicePlaces {
    const link = this.#pods.volumeDevice(podUid, CSI_PLUGIN, name);
    return { globalMap: join(this.#root, oneName(name), 'dev'), podUid, link };
  }

  /** The directory of what is known of the volume. */
  data(name: string): string {
    return join(this.#root, oneName(name), 'data');
  }

  staged(name: string): string {
    return join(this.#root, 'staging', oneName(name));
  }

  published(podUid: string, name: string): string {
    return join(this.#root, 'publish', oneName(name), oneName(podUid));
  }

  /** Where the links of a pod are. */
  linksRoot(podUid: string): string {
    return this.#pods.pluginDevices(podUid, CSI_PLUGIN);
  }

  /** The volumes that a pod has, or may have. */
  async namesOf(podUid: string): Promise<string[]> {
    return await namesIn(this.linksRoot(podUid));
  }

  /** The pods that have the volume, or may have it. */
  async podsWith(name: string): Promise<string[]> {
    const uids = await namesIn(this.#pods.root);
    const have = await Promise.all(uids.map(async (uid) => (await this.namesOf(uid)).includes(name)));
    return uids.filter((_, at) => have[at]);
  }

  /** One that cannot be read hides no other. */
  async all(): Promise<{ kept: KeptBlockVolume[]; unread: UnreadPlace[] }> {
    const names = await namesIn(this.#root);
    const { kept, unread } = together(await Promise.all(names.map((name) => foundAt(this.data(name)))));
    return { kept: kept.map(({ directory, data }) => ({ name: basename(dirname(directory)), data })), unread };
  }

  /** As `CsiPlaces.removeUnnoted`. */
  async removeUnnoted(): Promise<void> {
    const names = (await namesIn(this.#root)).filter((name) => name !== 'publish' && name !== 'staging');
    await allOf(names.map(async (name) => ((await isNoted(this.data(name))) ? undefined : this.remove(name))));
    await this.#removeParents();
  }

  /** Removes what is left of a volume that no pod has and that is not staged. What is known of it goes last. */
  async remove(name: string): Promise<void> {
    const directory = join(this.#root, oneName(name));
    await removeIfEmpty(join(this.#root, 'publish', name));
    await this.removeStaging(name);
    if ((await this.#mounter.mountsBelow(directory)).length > 0) return;
    await removeIfEmpty(join(directory, 'dev'));
    await rm(directory, { recursive: true });
    await this.#removeParents();
  }

  async #removeParents(): Promise<void> {
    for (const parent of ['publish', 'staging']) await removeIfEmpty(join(this.#root, parent));
  }

  /** What a driver has left there goes with it, unless something is mounted. */
  async removeStaging(name: string): Promise<void> {
    const directory = this.staged(name);
    if ((await this.#mounter.mountsBelow(directory)).length === 0)
      await rm(directory, { recursive: true, force: true });
  }
}
