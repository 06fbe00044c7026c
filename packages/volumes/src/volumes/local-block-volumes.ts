import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, KeyedLock, PodwrightError } from '@podwright/base';
import { namesIn, removeIfEmpty } from '@podwright/host';
import { serverMounts } from '@podwright/system/mountinfo';
import type { DeviceMaps, DevicePaths } from './device-maps.ts';
import { isOfOnePod, refuseSecondPod } from './one-pod.ts';
import type { PersistentVolumeRequest } from './persistent-volumes.ts';
import { directoryName, oneName, type PodDirectories } from './pod-directories.ts';
import { VolumeFailure } from './volume-failure.ts';

/** Name of the volume plugin for `local` PersistentVolumes, as used in paths. */
export const LOCAL_PLUGIN = 'kubernetes.io/local-volume';

/**
 * Maps the node's block devices (`local` PersistentVolumes) for pods. Devices are bind-mounted at
 * `<rootDir>/plugins/kubernetes.io~local-volume/volumeDevices/<volume>/<pod UID>`, with symlinks to them in the pods' directories.
 */
export class LocalBlockVolumes {
  readonly #maps: DeviceMaps;
  readonly #directories: PodDirectories;
  readonly #root: string;
  readonly #locks = new KeyedLock();
  /** Pods' symlinks to devices mapped by this process. */
  readonly #mapped = new Set<string>();

  constructor({ maps, directories, rootDir }: { maps: DeviceMaps; directories: PodDirectories; rootDir: string }) {
    this.#maps = maps;
    this.#directories = directories;
    this.#root = join(rootDir, 'plugins', directoryName(LOCAL_PLUGIN), 'volumeDevices');
  }

  /** Maps the volume for the pod, and returns the symlink to its device. */
  map({ pod, bound }: PersistentVolumeRequest, signal: AbortSignal): Promise<string> {
    const { name } = bound.volume.metadata;
    return this.#locks.run(name, async () => {
      const places = this.#placesOf(pod.metadata.uid, name);
      if (this.#mapped.has(places.link)) return places.link;
      if (isOfOnePod(bound.volume.spec))
        await this.#refuseSecond(pod.metadata.uid, name).catch((error: unknown) => {
          throw mapFailure('SetUpDevice', name, error);
        });
      const device = await deviceOf(bound.volume.spec.local?.path ?? '').catch((error: unknown) => {
        throw mapFailure('EvalHostSymlinks', name, error);
      });
      await this.#maps.addLink(places, device);
      await this.#maps.map(device, places, signal).catch((error: unknown) => {
        throw mapFailure('MapBlockVolume', name, error);
      });
      this.#mapped.add(places.link);
      this.#maps.recordEvents(pod, name, places);
      return places.link;
    });
  }

  /** Unmaps all of a pod's devices. Idempotent. */
  async unmap(podUid: string): Promise<void> {
    for (const name of await namesIn(this.#directories.pluginDevices(podUid, LOCAL_PLUGIN)))
      await this.#locks.run(name, async () => {
        const places = this.#placesOf(podUid, name);
        await this.#maps.unmap(places).catch((error: unknown) => {
          const why = `UnmapVolume.UnmapBlockVolume failed for volume "${name}" : ${errorMessage(error)}`;
          throw new PodwrightError('failed_precondition', why);
        });
        await removeIfEmpty(places.globalMap);
        await this.#maps.removeLink(places);
        this.#mapped.delete(places.link);
      });
  }

  async #refuseSecond(podUid: string, name: string): Promise<void> {
    const uids = (await namesIn(this.#directories.root)).filter((uid) => uid !== podUid);
    const names = await Promise.all(uids.map((uid) => namesIn(this.#directories.pluginDevices(uid, LOCAL_PLUGIN))));
    if (names.flat().includes(name)) refuseSecondPod();
  }

  #placesOf(podUid: string, name: string): DevicePaths {
    const link = this.#directories.volumeDevice(podUid, LOCAL_PLUGIN, name);
    return { globalMap: join(this.#root, oneName(name)), podUid, link };
  }
}

async function deviceOf(path: string): Promise<string> {
  await serverMounts.requireResponse(path);
  const device = await realpath(path);
  if ((await stat(device)).isBlockDevice()) return device;
  throw new PodwrightError('failed_precondition', `${path} is not a block device`);
}

function mapFailure(step: string, volume: string, error: unknown): VolumeFailure {
  return new VolumeFailure(
    `MapVolume.${step} failed for volume "${volume}" : ${errorMessage(error)}`,
    'FailedMapVolume',
  );
}
