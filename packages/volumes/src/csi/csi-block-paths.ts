import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { namesIn, removeIfEmpty } from '@podwright/host';
import { CSI_PLUGIN } from '@podwright/kube-api';
import type { DevicePaths } from '../volumes/device-maps.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { oneName, type PodDirectories } from '../volumes/pod-directories.ts';
import { BLOCK_VOLUMES } from './csi-volume.ts';
import { allOf } from './mount-steps.ts';
import { isRecorded, mergeFound, type UnreadDirectory, type VolumeData, volumeIn } from './volume-data.ts';

/** A block volume that has a `vol_data.json` file. `name` is the PersistentVolume's name. */
export type RecordedBlockVolume = { name: string; data: VolumeData };

/**
 * The paths of CSI block volumes, in upstream's layout:
 *
 *   <rootDir>/pods/<uid>/volumeDevices/kubernetes.io~csi/<volume>   (a symlink to the device)
 *   <rootDir>/plugins/kubernetes.io/csi/volumeDevices/<volume>/data/vol_data.json
 *                                                    /<volume>/dev/<uid>   (the device, bind-mounted)
 *                                                    /staging/<volume>
 *                                                    /publish/<volume>/<uid>
 */
export class CsiBlockPaths {
  readonly #pods: PodDirectories;
  readonly #root: string;
  readonly #mounter: Mounter;

  constructor({ pods, rootDir, mounter }: { pods: PodDirectories; rootDir: string; mounter: Mounter }) {
    this.#pods = pods;
    this.#root = join(rootDir, 'plugins', CSI_PLUGIN, BLOCK_VOLUMES);
    this.#mounter = mounter;
  }

  mapped(podUid: string, name: string): DevicePaths {
    const link = this.#pods.volumeDevice(podUid, CSI_PLUGIN, name);
    return { globalMap: join(this.#root, oneName(name), 'dev'), podUid, link };
  }

  /** Returns the directory that contains the volume's `vol_data.json`. */
  data(name: string): string {
    return join(this.#root, oneName(name), 'data');
  }

  staged(name: string): string {
    return join(this.#root, 'staging', oneName(name));
  }

  published(podUid: string, name: string): string {
    return join(this.#root, 'publish', oneName(name), oneName(podUid));
  }

  /** Returns the directory that contains the symlinks to a pod's CSI block devices. */
  linksRoot(podUid: string): string {
    return this.#pods.pluginDevices(podUid, CSI_PLUGIN);
  }

  /**
   * Returns the names of the volumes that the pod uses, or might still use because the kubelet was killed while mapping or unmapping them.
   */
  async namesOf(podUid: string): Promise<string[]> {
    return await namesIn(this.linksRoot(podUid));
  }

  /** Returns the UIDs of the pods that use, or may still use, the volume. */
  async podsWith(name: string): Promise<string[]> {
    const uids = await namesIn(this.#pods.root);
    const have = await Promise.all(uids.map(async (uid) => (await this.namesOf(uid)).includes(name)));
    return uids.filter((_, at) => have[at]);
  }

  /** Returns all block volumes that have a `vol_data.json` file. Volumes whose file is unreadable are listed separately. */
  async all(): Promise<{ recorded: RecordedBlockVolume[]; unread: UnreadDirectory[] }> {
    const names = await namesIn(this.#root);
    const { recorded, unread } = mergeFound(await Promise.all(names.map((name) => volumeIn(this.data(name)))));
    return { recorded: recorded.map(({ directory, data }) => ({ name: basename(dirname(directory)), data })), unread };
  }

  /**
   * Removes the directories of block volumes that have no `vol_data.json` file, left behind if the kubelet was killed before writing the
   * file or after deleting it.
   */
  async removeUnrecorded(): Promise<void> {
    const names = (await namesIn(this.#root)).filter((name) => name !== 'publish' && name !== 'staging');
    await allOf(names.map(async (name) => ((await isRecorded(this.data(name))) ? undefined : this.remove(name))));
    await this.#removeParents();
  }

  /**
   * Removes the files of a volume that is neither staged nor used by any pod. `vol_data.json` is removed last, so that an interrupted
   * removal is repeated.
   */
  async remove(name: string): Promise<void> {
    const directory = join(this.#root, oneName(name));
    await removeIfEmpty(join(this.#root, 'publish', name));
    await this.removeStaging(name);
    if ((await this.#mounter.mountsBelow(directory)).length > 0) return;
    await rm(join(directory, 'dev'), { recursive: true, force: true });
    await rm(directory, { recursive: true });
    await this.#removeParents();
  }

  async #removeParents(): Promise<void> {
    for (const parent of ['publish', 'staging']) await removeIfEmpty(join(this.#root, parent));
  }

  /** Removes the staging path, including files left there by the driver, unless something is mounted on it. */
  async removeStaging(name: string): Promise<void> {
    const directory = this.staged(name);
    if ((await this.#mounter.mountsBelow(directory)).length === 0)
      await rm(directory, { recursive: true, force: true });
  }
}
