import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage, KeyedLock, type Logger, namesIn, POD_DIRECTORY, PodwrightError, Trash } from '@podwright/base';
import { type Pod, podFullName, type Volume } from '../api/types.ts';
import type { Mounter } from './mounter.ts';
import type { VolumePlugin } from './plugin.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { PodVolumes, SubPathRequest, VolumePaths } from './pod-volumes.ts';
import { mountSubPath } from './sub-path.ts';

export type VolumeManagerOptions = {
  directories: PodDirectories;
  plugins: VolumePlugin[];
  mounter: Mounter;
  logger: Logger;
};

/**
 * Brings volumes to their places and takes them away. It remembers nothing that matters: what is mounted is read from the
 * kernel and what is written from the disk, so a restart changes nothing.
 */
export class VolumeManager implements PodVolumes {
  readonly #options: VolumeManagerOptions;
  readonly #locks = new KeyedLock();
  readonly #paths = new Map<string, VolumePaths>();
  readonly #trash: Trash;

  constructor(options: VolumeManagerOptions) {
    this.#options = options;
    this.#trash = new Trash(options.directories.trash, options.logger);
  }

  mountForPod(pod: Pod, signal: AbortSignal): Promise<VolumePaths> {
    const { uid } = pod.metadata;
    return this.#locks.run(uid, async () => {
      signal.throwIfAborted();
      // Images are mounted by the runtime.
      const volumes = (pod.spec.volumes ?? []).filter(({ image }) => image === undefined);
      const results = await Promise.allSettled(volumes.map((volume) => this.#setUp(pod, volume, signal)));
      signal.throwIfAborted();
      const failures = results.flatMap((result, index) =>
        result.status === 'rejected' ? [`volume "${volumes[index]!.name}": ${errorMessage(result.reason)}`] : [],
      );
      if (failures.length > 0) {
        throw new PodwrightError(
          'failed_precondition',
          `mount volumes of pod ${podFullName(pod)}: ${failures.join('; ')}`,
        );
      }
      const paths = results.map(
        (result, index) => [volumes[index]!.name, (result as PromiseFulfilledResult<string>).value] as const,
      );
      this.#paths.set(uid, new Map(paths));
      return this.pathsOf(uid);
    });
  }

  pathsOf(podUid: string): VolumePaths {
    return this.#paths.get(podUid) ?? new Map();
  }

  prepareSubPath(request: SubPathRequest, signal: AbortSignal): Promise<string> {
    const { podUid, volumeName, containerName, volumePath, subPath, index } = request;
    const target = this.#options.directories.subPath(podUid, { volume: volumeName, container: containerName, index });
    return this.#locks.run(target, () => mountSubPath(this.#options.mounter, { volumePath, subPath, target }, signal));
  }

  async unmountForPod(podUid: string): Promise<void> {
    const { directories } = this.#options;
    await this.#locks.run(podUid, async () => {
      this.#paths.delete(podUid);
      await this.#clear(directories.subPaths(podUid));
      await this.#clear(directories.volumes(podUid));
    });
  }

  async removeForPod(podUid: string): Promise<void> {
    await this.unmountForPod(podUid);
    await this.#locks.run(podUid, () => this.#clear(this.#options.directories.pod(podUid)));
  }

  async removeOrphans(keep: ReadonlySet<string>): Promise<string[]> {
    const uids = (await namesIn(this.#options.directories.root)).filter((uid) => !keep.has(uid));
    for (const uid of uids) {
      await this.removeForPod(uid);
      this.#options.logger.info({ uid }, 'removed what was left of a pod');
    }
    return uids;
  }

  close(): Promise<void> {
    return this.#trash.close();
  }

  async #setUp(pod: Pod, volume: Volume, signal: AbortSignal): Promise<string> {
    const { plugins, directories } = this.#options;
    const plugin = plugins.find((candidate) => candidate.supports(volume));
    if (plugin === undefined) throw new PodwrightError('unimplemented', 'no plugin for its kind');
    const directory = directories.volume(pod.metadata.uid, plugin.name, volume.name);
    await mkdir(dirname(directory), { recursive: true, mode: POD_DIRECTORY });
    return plugin.setUp({ pod, volume, directory }, signal);
  }

  /** Unmounts everything at and below the directory and throws it away. What is still mounted is never deleted. */
  async #clear(directory: string): Promise<void> {
    const { mounter } = this.#options;
    for (const point of await mounter.mountsBelow(directory)) await mounter.unmount(point);
    const left = await mounter.mountsBelow(directory);
    if (left.length > 0) {
      throw new PodwrightError('failed_precondition', `remove ${directory}: still mounted: ${left.join(', ')}`);
    }
    this.#trash.throwAway(directory);
  }
}
