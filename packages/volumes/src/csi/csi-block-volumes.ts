import { mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage, isErrno, KeyedLock, type Logger, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import { attachmentName, CSI_PLUGIN, type Pod, uniqueVolumeName } from '@podwright/kube-api';
import type { DeviceMaps } from '../volumes/device-maps.ts';
import { isOfOnePod, refuseSecondPod } from '../volumes/one-pod.ts';
import { type StorageMetrics, timed } from '../volumes/storage-metrics.ts';
import type { CsiBlockPaths, RecordedBlockVolume } from './csi-block-paths.ts';
import { type CsiVolume, metricName } from './csi-volume.ts';
import {
  getCapabilities,
  isFinal,
  type MountRequest,
  publish,
  stage,
  unpublish,
  unstage,
  usageOf,
  type VolumeUsageStats,
} from './driver-calls.ts';
import { GrowthUnderPods } from './growth-under-pods.ts';
import {
  allOf,
  contextOf,
  inStep,
  keepUnread,
  type PodVolume,
  requireDriver,
  type StepParts,
  stepFailure,
  untilAttached,
} from './mount-steps.ts';
import { RetryGate } from './retry-gate.ts';
import { readVolumeData, tryVolumeData, writeVolumeData } from './volume-data.ts';
import type { VolumeExpansion } from './volume-expansion.ts';

export type CsiBlockVolumesOptions = StepParts & {
  paths: CsiBlockPaths;
  maps: DeviceMaps;
  expansion: VolumeExpansion;
  logger: Logger;
  metrics?: StorageMetrics;
};

/** A block volume mapped for a pod by this process. */
type Mapped = { volume: CsiVolume; device: string; podUid: string };

/**
 * CSI block volumes. A volume is staged once per node, then published and mapped once per pod; teardown is the reverse. The volume's record
 * and the pod's symlink are written before the driver is called, so that the kubelet can clean up after a restart.
 */
export class CsiBlockVolumes {
  readonly #options: CsiBlockVolumesOptions;
  readonly #locks = new KeyedLock();
  readonly #tries = new RetryGate();
  readonly #growth: GrowthUnderPods;
  /** Volumes mapped by this process, by the path of the pod's symlink. */
  readonly #mapped = new Map<string, Mapped>();
  /** Names of the volumes staged by this process. */
  readonly #staged = new Set<string>();

  constructor(options: CsiBlockVolumesOptions) {
    this.#options = options;
    this.#growth = new GrowthUnderPods(options);
  }

  /**
   * Marks an earlier kubelet's block volumes as in use, so that none is detached before the kubelet has read its pods, and removes volume
   * directories without a `vol_data.json` file. Like `CsiVolumes.load`.
   */
  async load(): Promise<void> {
    const { paths, inUse, logger } = this.#options;
    const { recorded, unread } = await paths.all();
    for (const one of recorded) inUse.keep(keyOf(one));
    keepUnread(unread, { inUse, logger });
    await paths.removeUnrecorded();
  }

  /** Maps the device for the pod, and returns the path of the pod's symlink to it. */
  async setUp(pod: Pod, volume: CsiVolume, signal: AbortSignal): Promise<string> {
    const { objects, paths, inUse } = this.#options;
    const { link: place } = paths.mapped(pod.metadata.uid, volume.name);
    const mapped = this.#mapped.get(place);
    if (mapped !== undefined) {
      const placed = { pod, volume, volumePath: mapped.device, stagingPath: paths.staged(volume.name) };
      const failedToGrow = this.#growth.check(placed);
      if (failedToGrow !== undefined) throw failedToGrow;
      return place;
    }
    const driver = await objects.driver(volume.driver, signal);
    const attachable = driver?.spec.attachRequired !== false;
    const key = uniqueVolumeName(volume);
    // Creates the directory of the pod's symlink, so that cleanup finds the pod even if the volume never gets mapped.
    await mkdir(dirname(place), { recursive: true, mode: POD_DIRECTORY });
    inUse.request(place, key, { attachable });
    const podVolume = { pod, volume, driver, place, attachable };
    await this.#tries.run(place, { driver: volume.driver, signal }, async () => {
      await untilAttached(this.#options, podVolume, signal);
      await this.#locks.run(key, () => this.#map(podVolume, signal), signal);
    });
    return place;
  }

  /** Returns the driver's volume statistics for the pod's symlink at this path; `undefined` if it does not belong to a CSI volume. */
  use(link: string): Promise<VolumeUsageStats> | undefined {
    const mapped = this.#mapped.get(link);
    if (mapped === undefined) return undefined;
    const { volume, podUid } = mapped;
    const { globalMap } = this.#options.paths.mapped(podUid, volume.name);
    return usageOf(this.#options.drivers, { ...volume, path: `${globalMap}/${podUid}` });
  }

  /** Unmaps all of a pod's devices, and unstages volumes not used by any other pod. Rejects with the first failure. */
  async tearDown(podUid: string): Promise<void> {
    const { paths, inUse } = this.#options;
    const held = await paths.namesOf(podUid);
    await allOf(held.map((name) => this.#unmap(podUid, name)));
    const isLeft = (place: string) => dirname(place) === paths.linksRoot(podUid);
    const left = inUse.removePlaces(isLeft);
    this.#tries.forgetWhere(isLeft);
    try {
      await this.removeUnused();
    } finally {
      const { recorded, unread } = await paths.all();
      const names = new Set(recorded.map(keyOf));
      const isUnread = unread.some(({ directory }) => held.some((name) => paths.data(name) === directory));
      for (const key of left) if (!isUnread && !inUse.isRequested(key) && !names.has(key)) this.#free(key);
    }
  }

  /** Unstages volumes not used by any pod. Rejects with the first failure. */
  async removeUnused(): Promise<void> {
    await allOf((await this.#options.paths.all()).recorded.map((recorded) => this.#unstageUnused(recorded)));
  }

  /** Ends the back-off of operations that failed because the driver was not registered. */
  driverRegistered(driver: string): void {
    this.#tries.release(driver);
    this.#growth.release(driver);
    this.removeUnused().catch((error: unknown) => {
      this.#options.logger.warn({ error: errorMessage(error) }, 'cannot unstage a block volume that no pod uses');
    });
  }

  async #map(podVolume: PodVolume, signal: AbortSignal): Promise<void> {
    const { pod, volume, driver, place } = podVolume;
    const { drivers, paths, maps } = this.#options;
    const { uid } = pod.metadata;
    const { name } = volume;
    if (isOfOnePod(volume)) await inStep('MapVolume.SetUpDevice', volume, () => this.#refuseSecond(uid, name));
    const publishContext = await contextOf(this.#options, podVolume, signal);
    const mapped = paths.mapped(uid, name);
    const target = paths.published(uid, name);
    const isKnown = await this.#record(podVolume, target);
    const request = await inStep('MapVolume.SetUpDevice', volume, async (): Promise<MountRequest> => {
      requireDriver(drivers, volume, 'blockMapper.SetUpDevice failed to get CSI client');
      const capabilities = await getCapabilities(this.#options, volume.driver, signal);
      const staged = { pod, volume, driver, publishContext, capabilities, stagingPath: paths.staged(name) };
      if (capabilities.stage) await this.#stage(staged, isKnown, signal);
      return staged;
    });
    await inStep('MapVolume.MapPodDevice', volume, () => this.#publish(request, { target, isKnown }, signal));
    const device = await inStep('MapVolume.EvalHostSymlinks', volume, () => realpath(target));
    await inStep('MapVolume.MapBlockVolume', volume, () => maps.map(device, mapped, signal));
    maps.recordEvents(pod, name, mapped);
    const stagingPath = request.capabilities.stage ? paths.staged(name) : '';
    await this.#growth.beforeUse({ pod, volume, volumePath: device, stagingPath }, signal).catch((error: unknown) => {
      throw stepFailure('MapVolume.MarkVolumeAsMounted failed while expanding volume', volume, error);
    });
    this.#mapped.set(place, { volume, device, podUid: uid });
  }

  /**
   * Writes the volume's record and the pod's symlink before the driver is called. Returns whether the symlink already existed, in which
   * case the pod may already be using the volume.
   */
  async #record({ pod, volume }: PodVolume, target: string): Promise<boolean> {
    const { paths, maps, nodeName } = this.#options;
    const { name, handle, driver } = volume;
    const directory = paths.data(name);
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
    const attachmentID = attachmentName(volume, nodeName);
    await writeVolumeData(directory, {
      specVolID: name,
      volumeHandle: handle,
      driverName: driver,
      nodeName,
      attachmentID,
    });
    return await maps.addLink(paths.mapped(pod.metadata.uid, name), target);
  }

  async #refuseSecond(podUid: string, name: string): Promise<void> {
    const uids = await this.#options.paths.podsWith(name);
    if (uids.some((uid) => uid !== podUid)) refuseSecondPod();
  }

  async #stage(request: MountRequest, isKnown: boolean, signal: AbortSignal): Promise<void> {
    const { pod, volume, stagingPath } = request;
    if (this.#staged.has(volume.name)) return;
    await mkdir(stagingPath!, { recursive: true, mode: POD_DIRECTORY });
    try {
      await stage(this.#options, request, signal);
    } catch (error) {
      if (!signal.aborted && isFinal(error) && !isKnown) await this.#giveUp(pod.metadata.uid, volume.name);
      throw error;
    }
    this.#staged.add(volume.name);
  }

  async #publish(
    request: MountRequest,
    { target, isKnown }: { target: string; isKnown: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { volume, pod } = request;
    await mkdir(dirname(target), { recursive: true, mode: POD_DIRECTORY });
    try {
      await publish(this.#options, { ...request, targetPath: target }, signal);
    } catch (error) {
      // removes only the pod's symlink: the volume stays staged until the pod is torn down
      if (!signal.aborted && isFinal(error) && !isKnown)
        await this.#options.maps.removeLink(this.#options.paths.mapped(pod.metadata.uid, volume.name));
      throw error;
    }
  }

  /**
   * Removes the pod's symlink, and the volume's record unless another pod uses the volume. Only call this after a failure that is known to
   * have left nothing staged, for a pod that was not already using the volume.
   */
  async #giveUp(podUid: string, name: string): Promise<void> {
    const { paths, maps } = this.#options;
    await maps.removeLink(paths.mapped(podUid, name));
    if ((await paths.podsWith(name)).length === 0) await paths.remove(name);
  }

  async #unmap(podUid: string, name: string): Promise<void> {
    const { paths, maps } = this.#options;
    const data = await tryVolumeData(paths.data(name));
    const mapped = paths.mapped(podUid, name);
    if (data !== undefined && 'problem' in data)
      return await inUnmapStep('UnmapPodDevice', name, () => Promise.reject(new Error(data.problem)));
    if (data === undefined) {
      await maps.unmap(mapped);
      return await maps.removeLink(mapped);
    }
    const { driverName: driver } = data;
    await this.#growth.end(keyOf({ data }));
    const operation = { plugin: metricName({ driver }), name: 'unmap_volume' };
    await this.#tries.run(`- ${mapped.link}`, { driver }, () =>
      this.#locks.run(keyOf({ data }), async () => {
        await timed(this.#options.metrics, operation, () => this.#unpublish(podUid, { name, data }));
        await maps.removeLink(mapped);
        this.#mapped.delete(mapped.link);
        this.#tries.forget(mapped.link);
      }),
    );
  }

  async #unpublish(podUid: string, { name, data }: RecordedBlockVolume): Promise<void> {
    const { drivers, paths, maps, driversKnown } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    await inUnmapStep('UnmapBlockVolume', name, () => maps.unmap(paths.mapped(podUid, name)));
    if (!drivers.has(driver)) await driversKnown;
    await inUnmapStep('UnmapPodDevice', name, async () => {
      requireDriver(drivers, { driver }, 'blockMapper.UnmapPodDevice failed to get CSI client');
      const targetPath = paths.published(podUid, name);
      await unpublish(drivers, { driver, handle, targetPath }).catch((error: unknown) => {
        throw mapperFailure('unpublishVolumeForBlock failed', error);
      });
    });
  }

  async #unstageUnused(recorded: RecordedBlockVolume): Promise<void> {
    const { paths, drivers, driversKnown, metrics } = this.#options;
    const { name, data } = recorded;
    const { driverName: driver } = data;
    await this.#locks.run(keyOf(recorded), async () => {
      const isRemoved = (await readVolumeData(paths.data(name))) === undefined; // another call may have removed it first
      if (isRemoved || (await this.#isUsed(recorded))) return;
      if (!drivers.has(driver)) await driversKnown;
      const operation = { plugin: metricName({ driver }), name: 'unmap_device' };
      await this.#tries.run(name, { driver }, () => timed(metrics, operation, () => this.#unstage(recorded)));
      this.#staged.delete(name);
      this.#free(keyOf(recorded));
    });
  }

  async #unstage({ name, data }: RecordedBlockVolume): Promise<void> {
    const { paths, drivers, maps } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    const fail = (what: string, error: unknown): never => {
      throw new PodwrightError('failed_precondition', `${what} for volume "${name}" : ${errorMessage(error)}`);
    };
    const { globalMap } = paths.mapped('none', name);
    if (await maps.isMapped(globalMap))
      fail('UnmapDevice failed', new Error(`the device "${globalMap}" is still referenced from other Pods`));
    try {
      requireDriver(drivers, { driver }, 'blockMapper.TearDownDevice failed to get CSI client');
      const stagingPath = paths.staged(name);
      if (await exists(stagingPath))
        await unstage(drivers, { driver, handle, stagingPath }).catch((error: unknown) => {
          throw mapperFailure('unstageVolumeForBlock failed', error);
        });
    } catch (error) {
      fail('UnmapDevice.TearDownDevice failed', error);
    }
    await paths.remove(name);
  }

  async #isUsed(recorded: RecordedBlockVolume): Promise<boolean> {
    const { inUse, paths } = this.#options;
    return inUse.isRequested(keyOf(recorded)) || (await paths.podsWith(recorded.name)).length > 0;
  }

  #free(key: string): void {
    this.#growth.forget(key);
    this.#options.inUse.free(key);
  }
}

function keyOf({ data: { driverName: driver, volumeHandle: handle } }: Pick<RecordedBlockVolume, 'data'>): string {
  return uniqueVolumeName({ driver, handle });
}

async function inUnmapStep(step: string, name: string, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    const what = `UnmapVolume.${step} failed for volume "${name}"`;
    throw new PodwrightError('failed_precondition', `${what} : ${errorMessage(error)}`);
  });
}

function mapperFailure(what: string, error: unknown): PodwrightError {
  return new PodwrightError('failed_precondition', `${CSI_PLUGIN}: blockMapper.${what}: ${errorMessage(error)}`);
}

async function exists(path: string): Promise<boolean> {
  try {
    await realpath(path);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
