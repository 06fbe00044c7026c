import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  errorMessage,
  KeyedLock,
  type Logger,
  POD_DIRECTORY,
  PodwrightError,
  type Registry,
  sleep,
} from '@podwright/base';
import { namesIn, Trash } from '@podwright/host';
import { everyContainer, type Pod, type Volume } from '@podwright/kube-api';
import type { Mounter } from './mounter.ts';
import type { VolumePlugin } from './plugin.ts';
import { directoryName, type PodDirectories } from './pod-directories.ts';
import type { MountedVolumes, PodVolumes, SubPathRequest, VolumePaths } from './pod-volumes.ts';
import { type StorageMetrics, type StorageOperation, timed } from './storage-metrics.ts';
import { mountSubPath } from './sub-path.ts';
import { type VolumeCounts, volumeCountMetrics } from './volume-count-metrics.ts';
import { setUpFailure, VolumeFailure } from './volume-failure.ts';

/** How long to wait for the removal of an orphaned pod's leftovers, since a driver may hang. */
const ORPHAN_TIMEOUT_MS = 10_000;

export type VolumeManagerOptions = {
  directories: PodDirectories;
  plugins: VolumePlugin[];
  mounter: Mounter;
  logger: Logger;
  metrics?: Registry;
  /** Metrics for the duration of volume operations. */
  storageMetrics?: StorageMetrics;
};

/** The result of setting up a volume: its path if it is usable, and the error if it could not be created or updated. */
type SetUpResult = { name: string; path?: string; failure?: VolumeFailure };

/** Mounts and removes pods' volumes. Keeps no state across restarts: mounts are read from the kernel, files from disk. */
export class VolumeManager implements PodVolumes {
  readonly #options: VolumeManagerOptions;
  readonly #locks = new KeyedLock();
  readonly #paths = new Map<string, VolumePaths>();
  /** The volumes required by each pod's last `mountForPod`. */
  readonly #wanted = new Map<string, Volume[]>();
  /** When pods first required their volumes, for volumes not mounted yet. */
  readonly #wantedAtMs = new Map<string, number>();
  readonly #trash: Trash;

  constructor(options: VolumeManagerOptions) {
    this.#options = options;
    if (options.metrics !== undefined) volumeCountMetrics(options.metrics, () => this.#counts());
    this.#trash = new Trash(options.directories.trash, options.logger);
  }

  mountForPod(pod: Pod, signal: AbortSignal): Promise<MountedVolumes> {
    const { uid } = pod.metadata;
    return this.#locks.run(uid, async () => {
      signal.throwIfAborted();
      const used = usedVolumes(pod);
      // image volumes are mounted by the container runtime
      const volumes = (pod.spec.volumes ?? []).filter(({ name, image }) => image === undefined && used.has(name));
      this.#wanted.set(uid, volumes);
      if (needsPropagation(pod)) await this.#share(this.#options.directories.volumes(uid), signal);
      const results = await Promise.all(volumes.map((volume) => this.#setUp(pod, volume, signal)));
      signal.throwIfAborted();
      const paths = new Map(results.flatMap(({ name, path }) => (path === undefined ? [] : [[name, path] as const])));
      this.#paths.set(uid, paths);
      const failures = results.flatMap(({ failure }) => failure ?? []);
      return { paths, failures, complete: paths.size === volumes.length };
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
      this.#forget(podUid);
      await this.#clear(directories.subPaths(podUid));
      await this.#clearVolumes(podUid);
    });
  }

  async removeForPod(podUid: string): Promise<void> {
    await this.unmountForPod(podUid);
    await this.#locks.run(podUid, () => this.#clear(this.#options.directories.pod(podUid)));
  }

  async removeOrphans(isKnown: (podUid: string) => boolean): Promise<string[]> {
    const uids = await namesIn(this.#options.directories.root);
    const results = await Promise.allSettled(uids.map((uid) => inTime(this.#removeOrphan(uid, isKnown))));
    for (const plugin of this.#options.plugins) await inTime(plugin.removeUnused?.() ?? Promise.resolve());
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return uids.filter((_, at) => (results[at] as PromiseFulfilledResult<boolean>).value);
  }

  close(): Promise<void> {
    return this.#trash.close();
  }

  /** Removes the leftovers of an unknown pod. Returns false if the pod is known. */
  #removeOrphan(uid: string, isKnown: (podUid: string) => boolean): Promise<boolean> {
    const { directories, logger } = this.#options;
    // a pod with the same UID that starts meanwhile waits for the lock and finds no leftovers
    return this.#locks.run(uid, async () => {
      if (isKnown(uid)) return false;
      this.#forget(uid);
      await this.#clear(directories.subPaths(uid));
      await this.#clearVolumes(uid);
      await this.#clear(directories.pod(uid));
      logger.info({ uid }, 'removed the leftovers of a pod');
      return true;
    });
  }

  async #setUp(pod: Pod, volume: Volume, signal: AbortSignal): Promise<SetUpResult> {
    const { directories } = this.#options;
    const { name } = volume;
    const { uid } = pod.metadata;
    const plugin = this.#pluginOf(volume);
    const operation = { plugin: plugin.name, name: 'volume_mount' };
    const countAs = (known: StorageOperation) => void Object.assign(operation, known);
    const request = { pod, volume, directory: directories.volume(uid, plugin.name, name), countAs };
    const setUp = async () => {
      await mkdir(dirname(request.directory), { recursive: true, mode: POD_DIRECTORY });
      return await plugin.setUp(request, signal);
    };
    const isNew = !this.pathsOf(uid).has(name);
    try {
      return { name, path: isNew ? await this.#timed(`${uid}/${name}`, operation, setUp) : await setUp() };
    } catch (error) {
      const path = this.pathsOf(uid).get(name) ?? (await plugin.existingPath?.(request).catch(() => undefined));
      return { name, path, failure: error instanceof VolumeFailure ? error : setUpFailure(name, errorMessage(error)) };
    }
  }

  /** Records the duration of the operation, and the time since the pod first required the volume. */
  async #timed<T>(key: string, operation: StorageOperation, work: () => Promise<T>): Promise<T> {
    const { storageMetrics } = this.#options;
    const wantedAtMs = this.#wantedAtMs.get(key) ?? performance.now();
    this.#wantedAtMs.set(key, wantedAtMs);
    const result = await timed(storageMetrics, operation, work);
    this.#wantedAtMs.delete(key);
    if (operation.name === 'volume_mount')
      storageMetrics?.mounted(operation.plugin, (performance.now() - wantedAtMs) / 1000);
    return result;
  }

  #pluginOf(volume: Volume): VolumePlugin {
    return this.#options.plugins.find((candidate) => candidate.supports(volume))!;
  }

  #counts(): VolumeCounts {
    const wanted = [...this.#wanted].flatMap(([uid, volumes]) => volumes.map((volume) => ({ uid, volume })));
    const made = wanted.filter(({ uid, volume }) => this.pathsOf(uid).has(volume.name));
    const names = (all: typeof wanted) => all.map(({ volume }) => this.#pluginOf(volume).name);
    return { actual: names(made), desired: names(wanted) };
  }

  /** Makes later mounts inside volumes propagate to the pods using them. Required by containerd on hosts without systemd. */
  async #share(directory: string, signal: AbortSignal): Promise<void> {
    const { mounter } = this.#options;
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
    if (!(await mounter.isShared(directory))) await mounter.makeShared(directory, signal);
  }

  #forget(podUid: string): void {
    this.#wanted.delete(podUid);
    this.#paths.delete(podUid);
    for (const key of this.#wantedAtMs.keys()) if (key.startsWith(`${podUid}/`)) this.#wantedAtMs.delete(key);
  }

  /** Removes a pod's volumes. If a plugin fails to remove its volumes, they are left in place, and the rest are still removed. */
  async #clearVolumes(podUid: string): Promise<void> {
    const { directories } = this.#options;
    const [devices, root] = [directories.volumeDevices(podUid), directories.volumes(podUid)];
    const [deviceNames, names] = await Promise.all([devices, root].map((directory) => namesIn(directory)));
    const hasOwn = names!.some((name) => this.#pluginIn(name)?.tearDown !== undefined);
    const clear = async (name: string) => {
      await this.#pluginIn(name)?.tearDown?.(podUid);
      await this.#clear(join(root, name));
    };
    const unmap = async (name: string) => this.#pluginIn(name)?.unmapDevices?.(podUid);
    const work = [...deviceNames!.map(unmap), ...(hasOwn ? names! : []).map(clear)];
    const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    if (deviceNames!.length > 0) await this.#clear(devices);
    await this.#clear(root);
  }

  /** Returns the plugin with the given directory name. */
  #pluginIn(name: string): VolumePlugin | undefined {
    return this.#options.plugins.find((plugin) => directoryName(plugin.name) === name);
  }

  /** Unmounts everything at and under the directory, then moves it to the trash. Never deletes a mounted file system. */
  async #clear(directory: string): Promise<void> {
    const { mounter } = this.#options;
    const points = await mounter.mountsBelow(directory);
    for (const point of points) await mounter.unmount(point);
    const left = points.length === 0 ? [] : await mounter.mountsBelow(directory);
    if (left.length > 0) {
      throw new PodwrightError('failed_precondition', `remove ${directory}: still mounted: ${left.join(', ')}`);
    }
    this.#trash.throwAway(directory);
  }
}

/** Waits for the work, which continues if this rejects because of a timeout. Later errors are ignored, because the caller retries. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = sleep(ORPHAN_TIMEOUT_MS, done.signal).then(() => {
    throw new PodwrightError('deadline_exceeded', 'removing the leftovers of a pod takes too long');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}

/**
 * Returns the names of the volumes that containers mount, map or read environment variables from. As in upstream, other volumes of the pod
 * are not mounted.
 */
function usedVolumes({ spec }: Pod): Set<string> {
  const containers = everyContainer(spec);
  const mounted = containers.flatMap(({ volumeMounts = [], volumeDevices = [] }) =>
    [...volumeMounts, ...volumeDevices].map(({ name }) => name),
  );
  const read = containers.flatMap(({ env = [] }) =>
    env.flatMap(({ valueFrom }) => valueFrom?.fileKeyRef?.volumeName ?? []),
  );
  return new Set([...mounted, ...read]);
}

function needsPropagation({ spec }: Pod): boolean {
  const mounts = everyContainer(spec).flatMap(({ volumeMounts = [] }) => volumeMounts);
  return mounts.some(({ mountPropagation = 'None' }) => mountPropagation !== 'None');
}
