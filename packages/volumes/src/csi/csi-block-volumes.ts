import { mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage, isErrno, KeyedLock, type Logger, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { DeviceMaps } from '../volumes/device-maps.ts';
import { isOfOnePod, refuseSecondPod } from '../volumes/one-pod.ts';
import { type StorageMetrics, timed } from '../volumes/storage-metrics.ts';
import type { CsiBlockPlaces, KeptBlockVolume } from './csi-block-places.ts';
import { attachmentName, CSI_PLUGIN, type CsiVolume, metricName, uniqueVolumeName } from './csi-volume.ts';
import {
  askCapabilities,
  askUse,
  isFinal,
  type MountRequest,
  publish,
  stage,
  unpublish,
  unstage,
  type VolumeUsageStats,
} from './driver-calls.ts';
import { GrowthUnderPods } from './growth-under-pods.ts';
import {
  allOf,
  contextOf,
  inStep,
  keepUnread,
  requireDriver,
  type StepParts,
  stepFailure,
  untilAttached,
  type Want,
} from './mount-steps.ts';
import { RetryGate } from './retry-gate.ts';
import { readVolumeData, tryVolumeData, writeVolumeData } from './volume-data.ts';
import type { VolumeExpansion } from './volume-expansion.ts';

export type CsiBlockVolumesOptions = StepParts & {
  places: CsiBlockPlaces;
  maps: DeviceMaps;
  expansion: VolumeExpansion;
  logger: Logger;
  metrics?: StorageMetrics;
};

/** What a pod has of a volume that this process has mapped. */
type Mapped = { volume: CsiVolume; device: string; podUid: string };

/**
 * Volumes of CSI drivers that are block devices: staged once a node, published and mapped once a pod, and the other way round. What
 * must survive us is written before a driver is asked: what is known of the volume, and the link of the pod.
 */
export class CsiBlockVolumes {
  readonly #options: CsiBlockVolumesOptions;
  readonly #locks = new KeyedLock();
  readonly #tries = new RetryGate();
  readonly #growth: GrowthUnderPods;
  /** What this process has mapped, by the links of pods. */
  readonly #mapped = new Map<string, Mapped>();
  /** Names of volumes that this process has staged. */
  readonly #staged = new Set<string>();

  constructor(options: CsiBlockVolumesOptions) {
    this.#options = options;
    this.#growth = new GrowthUnderPods(options);
  }

  /** As for volumes with file systems. */
  async load(): Promise<void> {
    const { places, inUse, logger } = this.#options;
    const { kept, unread } = await places.all();
    for (const one of kept) inUse.keep(keyOf(one));
    keepUnread(unread, { inUse, logger });
    await places.removeUnnoted();
  }

  /** Brings the device to the pod, and returns the link to it. */
  async setUp(pod: Pod, volume: CsiVolume, signal: AbortSignal): Promise<string> {
    const { objects, places, inUse } = this.#options;
    const { link: place } = places.mapped(pod.metadata.uid, volume.name);
    const mapped = this.#mapped.get(place);
    if (mapped !== undefined) {
      const placed = { pod, volume, volumePath: mapped.device, stagingPath: places.staged(volume.name) };
      const failedToGrow = this.#growth.look(placed);
      if (failedToGrow !== undefined) throw failedToGrow;
      return place;
    }
    const driver = await objects.driver(volume.driver, signal);
    const attachable = driver?.spec.attachRequired !== false;
    const key = uniqueVolumeName(volume);
    // by its directory the volume is found again, even if it never gets there
    await mkdir(dirname(place), { recursive: true, mode: POD_DIRECTORY });
    inUse.want(place, key, { attachable });
    const want = { pod, volume, driver, place, attachable };
    await this.#tries.run(place, { driver: volume.driver, signal }, async () => {
      await untilAttached(this.#options, want, signal);
      await this.#locks.run(key, () => this.#map(want, signal), signal);
    });
    return place;
  }

  /** What the driver says of a device, by the link of a pod; undefined for what is no volume of a driver. */
  use(link: string): Promise<VolumeUsageStats> | undefined {
    const mapped = this.#mapped.get(link);
    if (mapped === undefined) return undefined;
    const { volume, podUid } = mapped;
    const { globalMap } = this.#options.places.mapped(podUid, volume.name);
    return askUse(this.#options.drivers, { ...volume, path: `${globalMap}/${podUid}` });
  }

  /** Takes all devices of a pod from it, and from the node what no other pod needs. Rejects with the first that does not go. */
  async tearDown(podUid: string): Promise<void> {
    const { places, inUse } = this.#options;
    const held = await places.namesOf(podUid);
    await allOf(held.map((name) => this.#unmap(podUid, name)));
    const isLeft = (place: string) => dirname(place) === places.linksRoot(podUid);
    const left = inUse.leave(isLeft);
    this.#tries.forgetWhere(isLeft);
    try {
      await this.removeUnused();
    } finally {
      const { kept, unread } = await places.all();
      const names = new Set(kept.map(keyOf));
      const isUnread = unread.some(({ directory }) => held.some((name) => places.data(name) === directory));
      for (const key of left) if (!isUnread && !inUse.isWanted(key) && !names.has(key)) this.#free(key);
    }
  }

  /** Unstages what no pod uses. Rejects with the first that does not go. */
  async removeUnused(): Promise<void> {
    await allOf((await this.#options.places.all()).kept.map((kept) => this.#unstageUnused(kept)));
  }

  /** Lets what failed for want of a driver be tried at once. */
  driverRegistered(driver: string): void {
    this.#tries.release(driver);
    this.#growth.release(driver);
    this.removeUnused().catch((error: unknown) => {
      this.#options.logger.warn({ error: errorMessage(error) }, 'a block volume that no pod uses stays staged');
    });
  }

  async #map(want: Want, signal: AbortSignal): Promise<void> {
    const { pod, volume, driver, place } = want;
    const { drivers, places, maps } = this.#options;
    const { uid } = pod.metadata;
    const { name } = volume;
    if (isOfOnePod(volume)) await inStep('MapVolume.SetUpDevice', volume, () => this.#refuseSecond(uid, name));
    const publishContext = await contextOf(this.#options, want, signal);
    const mapped = places.mapped(uid, name);
    const target = places.published(uid, name);
    const isKnown = await this.#note(want, target);
    const request = await inStep('MapVolume.SetUpDevice', volume, async (): Promise<MountRequest> => {
      requireDriver(drivers, volume, 'blockMapper.SetUpDevice failed to get CSI client');
      const capabilities = await askCapabilities(this.#options, volume.driver, signal);
      const staged = { pod, volume, driver, publishContext, capabilities, stagingPath: places.staged(name) };
      if (capabilities.stage) await this.#stage(staged, isKnown, signal);
      return staged;
    });
    await inStep('MapVolume.MapPodDevice', volume, () => this.#publish(request, { target, isKnown }, signal));
    const device = await inStep('MapVolume.EvalHostSymlinks', volume, () => realpath(target));
    await inStep('MapVolume.MapBlockVolume', volume, () => maps.map(device, mapped, signal));
    maps.tell(pod, name, mapped);
    const stagingPath = request.capabilities.stage ? places.staged(name) : '';
    await this.#growth.beforeUse({ pod, volume, volumePath: device, stagingPath }, signal).catch((error: unknown) => {
      throw stepFailure('MapVolume.MarkVolumeAsMounted failed while expanding volume', volume, error);
    });
    this.#mapped.set(place, { volume, device, podUid: uid });
  }

  /** Writes down what may be there from now on. Returns whether the pod may have had it before. */
  async #note({ pod, volume }: Want, target: string): Promise<boolean> {
    const { places, maps, nodeName } = this.#options;
    const { name, handle, driver } = volume;
    const directory = places.data(name);
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
    const attachmentID = attachmentName(volume, nodeName);
    await writeVolumeData(directory, {
      specVolID: name,
      volumeHandle: handle,
      driverName: driver,
      nodeName,
      attachmentID,
    });
    return await maps.note(places.mapped(pod.metadata.uid, name), target);
  }

  async #refuseSecond(podUid: string, name: string): Promise<void> {
    const uids = await this.#options.places.podsWith(name);
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
      // what is staged goes when the pod does
      if (!signal.aborted && isFinal(error) && !isKnown)
        await this.#options.maps.forget(this.#options.places.mapped(pod.metadata.uid, volume.name));
      throw error;
    }
  }

  /** The driver has surely staged nothing, and this pod was the first. */
  async #giveUp(podUid: string, name: string): Promise<void> {
    const { places, maps } = this.#options;
    await maps.forget(places.mapped(podUid, name));
    if ((await places.podsWith(name)).length === 0) await places.remove(name);
  }

  async #unmap(podUid: string, name: string): Promise<void> {
    const { places, maps } = this.#options;
    const data = await tryVolumeData(places.data(name));
    const mapped = places.mapped(podUid, name);
    if (data !== undefined && 'problem' in data)
      return await inUnmapStep('UnmapPodDevice', name, () => Promise.reject(new Error(data.problem)));
    if (data === undefined) {
      await maps.unmap(mapped);
      return await maps.forget(mapped);
    }
    const { driverName: driver } = data;
    await this.#growth.end(keyOf({ data }));
    const operation = { plugin: metricName({ driver }), name: 'unmap_volume' };
    await this.#tries.run(`- ${mapped.link}`, { driver }, () =>
      this.#locks.run(keyOf({ data }), async () => {
        await timed(this.#options.metrics, operation, () => this.#unpublish(podUid, { name, data }));
        await maps.forget(mapped);
        this.#mapped.delete(mapped.link);
        this.#tries.forget(mapped.link);
      }),
    );
  }

  async #unpublish(podUid: string, { name, data }: KeptBlockVolume): Promise<void> {
    const { drivers, places, maps, driversKnown } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    await inUnmapStep('UnmapBlockVolume', name, () => maps.unmap(places.mapped(podUid, name)));
    if (!drivers.has(driver)) await driversKnown;
    await inUnmapStep('UnmapPodDevice', name, async () => {
      requireDriver(drivers, { driver }, 'blockMapper.UnmapPodDevice failed to get CSI client');
      const targetPath = places.published(podUid, name);
      await unpublish(drivers, { driver, handle, targetPath }).catch((error: unknown) => {
        throw mapperFailure('unpublishVolumeForBlock failed', error);
      });
    });
  }

  async #unstageUnused(kept: KeptBlockVolume): Promise<void> {
    const { places, drivers, driversKnown, metrics } = this.#options;
    const { name, data } = kept;
    const { driverName: driver } = data;
    await this.#locks.run(keyOf(kept), async () => {
      const isGone = (await readVolumeData(places.data(name))) === undefined; // somebody else was here before
      if (isGone || (await this.#isUsed(kept))) return;
      if (!drivers.has(driver)) await driversKnown;
      const operation = { plugin: metricName({ driver }), name: 'unmap_device' };
      await this.#tries.run(name, { driver }, () => timed(metrics, operation, () => this.#unstage(kept)));
      this.#staged.delete(name);
      this.#free(keyOf(kept));
    });
  }

  async #unstage({ name, data }: KeptBlockVolume): Promise<void> {
    const { places, drivers, maps } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    const fail = (what: string, error: unknown): never => {
      throw new PodwrightError('failed_precondition', `${what} for volume "${name}" : ${errorMessage(error)}`);
    };
    const { globalMap } = places.mapped('none', name);
    if (await maps.isMapped(globalMap))
      fail('UnmapDevice failed', new Error(`the device "${globalMap}" is still referenced from other Pods`));
    try {
      requireDriver(drivers, { driver }, 'blockMapper.TearDownDevice failed to get CSI client');
      const stagingPath = places.staged(name);
      if (await isThere(stagingPath))
        await unstage(drivers, { driver, handle, stagingPath }).catch((error: unknown) => {
          throw mapperFailure('unstageVolumeForBlock failed', error);
        });
    } catch (error) {
      fail('UnmapDevice.TearDownDevice failed', error);
    }
    await places.remove(name);
  }

  async #isUsed(kept: KeptBlockVolume): Promise<boolean> {
    const { inUse, places } = this.#options;
    return inUse.isWanted(keyOf(kept)) || (await places.podsWith(kept.name)).length > 0;
  }

  #free(key: string): void {
    this.#growth.forget(key);
    this.#options.inUse.free(key);
  }
}

function keyOf({ data: { driverName: driver, volumeHandle: handle } }: Pick<KeptBlockVolume, 'data'>): string {
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

async function isThere(path: string): Promise<boolean> {
  try {
    await realpath(path);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
