import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorMessage, KeyedLock, type Logger, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { isOfOnePod, refuseSecondPod } from '../volumes/one-pod.ts';
import { type StorageMetrics, timed } from '../volumes/storage-metrics.ts';
import { giveToGroup } from '../volumes/volume-ownership.ts';
import type { CsiPlaces } from './csi-places.ts';
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
import { checkLifecycle, givesToGroup } from './fs-group.ts';
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
import { mountLabel, type SeLinuxHost } from './selinux-label.ts';
import { type KeptVolume, readVolumeData, type UnreadPlace, type VolumeData, writeVolumeData } from './volume-data.ts';
import type { PlacedVolume, VolumeExpansion } from './volume-expansion.ts';

export type CsiVolumesOptions = StepParts & {
  places: CsiPlaces;
  expansion: VolumeExpansion;
  logger: Logger;
  metrics?: StorageMetrics;
  /** Absent for a host without SELinux. */
  seLinux?: SeLinuxHost;
};

/**
 * Volumes of CSI drivers: staged once a node, published once a pod, and the other way round. All that must survive us stands in
 * `vol_data.json`, written before a driver is asked for anything: whatever stage a kubelet is killed in, the next one takes it
 * from there. What is done for one volume is done one after the other; volumes do not wait for each other.
 */
export class CsiVolumes {
  readonly #options: CsiVolumesOptions;
  readonly #locks = new KeyedLock();
  readonly #tries = new RetryGate();
  readonly #growth: GrowthUnderPods;
  /** Directories of volumes that this process has published, by pods that use them. */
  readonly #published = new Set<string>();
  /** Directories of volumes that this process has staged. */
  readonly #staged = new Set<string>();
  /** Places that cannot be read, and of which the log tells. */
  readonly #told = new Set<string>();

  constructor(options: CsiVolumesOptions) {
    this.#options = options;
    this.#growth = new GrowthUnderPods(options);
  }

  /**
   * Reads what an earlier kubelet left, so that none of it is detached before its pods are known, and removes what is nothing. Before
   * any driver is there, as nothing else may change the places meanwhile.
   */
  async load(): Promise<void> {
    const { places, inUse, logger } = this.#options;
    const [staged, published] = await Promise.all([places.allStaged(), places.allPublished()]);
    for (const { data } of [...staged.kept, ...published.kept])
      if (data.volumeLifecycleMode !== 'Ephemeral') inUse.keep(keyOf(data));
    keepUnread([...staged.unread, ...published.unread], { inUse, logger });
    await places.removeUnnoted();
  }

  /** Brings the volume to the pod and returns where. What is there stays, unless its driver wants to be called again or it has grown. */
  async setUp(pod: Pod, asked: CsiVolume, signal: AbortSignal): Promise<string> {
    const { objects, places, inUse, seLinux: host } = this.#options;
    const place = places.published(pod.metadata.uid, asked);
    const driver = await objects.driver(asked.driver, signal);
    const volume = { ...asked, label: mountLabel(asked, { pod, driver, host }) };
    const isThere = this.#published.has(place);
    const failedToGrow = isThere ? this.#growth.look(this.#placed(pod, volume)) : undefined;
    if (isThere && driver?.spec.requiresRepublish !== true) {
      if (failedToGrow !== undefined) throw failedToGrow;
      return mountIn(place);
    }
    const attachable = volume.mode === 'Persistent' && driver?.spec.attachRequired !== false;
    const key = uniqueVolumeName(volume);
    inUse.want(place, key, { attachable });
    const want = { pod, volume, driver, place, attachable };
    await this.#tries.run(place, { driver: volume.driver, signal }, async () => {
      await untilAttached(this.#options, want, signal);
      await this.#locks.run(key, () => this.#mount(want, signal), signal);
    });
    if (failedToGrow !== undefined) throw failedToGrow;
    return mountIn(place);
  }

  /** Where a volume is that an earlier `setUp`, of this process or another, has brought there. */
  async madeBefore(pod: Pod, volume: CsiVolume): Promise<string | undefined> {
    const { places } = this.#options;
    const directory = places.published(pod.metadata.uid, volume);
    if ((await readVolumeData(directory)) === undefined) return undefined;
    return (await places.isMounted(mountIn(directory))) ? mountIn(directory) : undefined;
  }

  /** How full the driver says that a volume is, by its path in the pod; undefined for what is no volume of a driver. */
  use(path: string): Promise<VolumeUsageStats> | undefined {
    const directory = dirname(path);
    return this.#published.has(directory) ? this.#askUse(directory, path) : undefined;
  }

  async #askUse(directory: string, path: string): Promise<VolumeUsageStats> {
    const data = await readVolumeData(directory);
    if (data === undefined) throw new PodwrightError('not_found', `nothing is known of the volume at ${directory}`);
    return askUse(this.#options.drivers, { driver: data.driverName, handle: data.volumeHandle, path });
  }

  /** Takes all volumes of a pod from it, and from the node what no other pod needs. Rejects with the first that does not go. */
  async tearDown(podUid: string): Promise<void> {
    const { places, inUse } = this.#options;
    const { kept, unread } = await places.publishedOf(podUid);
    await allOf([...kept.map((one) => this.#unpublish(one)), ...unread.map((one) => this.#removeUnread(one))]);
    const isLeft = (place: string) => dirname(place) === places.publishedRoot(podUid);
    const left = inUse.leave(isLeft);
    this.#tries.forgetWhere(isLeft);
    try {
      await this.removeUnused();
    } finally {
      const staged = await places.allStaged();
      const names = new Set(staged.kept.map(({ data }) => keyOf(data)));
      const isUnread = (key: string) => staged.unread.some(({ directory }) => places.isStagedAt(directory, key));
      for (const key of left) if (!names.has(key) && !isUnread(key) && !(await this.#isUsed(key))) this.#free(key);
    }
  }

  /** Unstages what no pod uses. Rejects with the first that does not go. */
  async removeUnused(): Promise<void> {
    const { kept: staged } = await this.#options.places.allStaged();
    await allOf(staged.map((kept) => this.#unstageUnused(kept)));
  }

  /** Lets what failed for want of a driver be tried at once. */
  driverRegistered(driver: string): void {
    this.#tries.release(driver);
    this.#growth.release(driver);
    this.removeUnused().catch((error: unknown) => this.#logUnstage(error));
  }

  async #mount(want: Want, signal: AbortSignal): Promise<void> {
    const { pod, volume, driver, place } = want;
    const { drivers, places } = this.#options;
    if (isOfOnePod(volume)) await inStep('MountVolume.SetUp', volume, () => this.#refuseSecond(want));
    const publishContext = await contextOf(this.#options, want, signal);
    const isPersistent = volume.mode === 'Persistent';
    const [step, what] = isPersistent
      ? ['MountVolume.MountDevice', 'attacher.MountDevice failed to create newCsiDriverClient']
      : ['MountVolume.SetUp', 'mounter.SetUpAt failed to get CSI client'];
    const request = await inStep(step, volume, async (): Promise<MountRequest> => {
      requireDriver(drivers, volume, what);
      const capabilities = await askCapabilities(this.#options, volume.driver, signal);
      const stagingPath = isPersistent && capabilities.stage ? globalMountIn(places.staged(volume)) : undefined;
      return { pod, volume, driver, publishContext, capabilities, stagingPath };
    });
    if (request.stagingPath !== undefined)
      await inStep('MountVolume.MountDevice', volume, () => this.#stage(request, request.stagingPath!, signal));
    await inStep('MountVolume.SetUp', volume, () => this.#publish(request, place, signal));
    if (this.#published.has(place)) return;
    await this.#growth.beforeUse(this.#placed(pod, volume), signal).catch((error: unknown) => {
      throw stepFailure('MountVolume.Setup failed while expanding volume', volume, error);
    });
    this.#published.add(place);
  }

  #placed(pod: Pod, volume: CsiVolume): PlacedVolume {
    const { places } = this.#options;
    const volumePath = mountIn(places.published(pod.metadata.uid, volume));
    return { pod, volume, volumePath, stagingPath: globalMountIn(places.staged(volume)) };
  }

  async #refuseSecond({ volume, place }: Want): Promise<void> {
    const key = uniqueVolumeName(volume);
    const { kept: published } = await this.#options.places.allPublished();
    if (published.some(({ directory, data }) => keyOf(data) === key && directory !== place)) refuseSecondPod();
  }

  async #stage(request: MountRequest, path: string, signal: AbortSignal): Promise<void> {
    const { places } = this.#options;
    const { volume } = request;
    const directory = dirname(path);
    const kept = await readVolumeData(directory);
    if (kept !== undefined && kept.seLinuxMountContext !== volume.label) await this.#unstageOther(directory, kept);
    if (this.#staged.has(directory)) return;
    const wasKept = (await readVolumeData(directory)) !== undefined;
    await mkdir(path, { recursive: true, mode: POD_DIRECTORY });
    const data = { volumeHandle: volume.handle, driverName: volume.driver };
    await writeVolumeData(directory, { ...data, ...labelOf(volume) });
    try {
      await stage(this.#options, request, signal);
    } catch (error) {
      if (!signal.aborted && isFinal(error) && !wasKept) await places.remove(path);
      throw error;
    }
    this.#staged.add(directory);
  }

  async #publish(request: MountRequest, directory: string, signal: AbortSignal): Promise<void> {
    const { places, metrics } = this.#options;
    const { pod, volume, driver, capabilities } = request;
    checkLifecycle(driver, volume);
    const isOurs = !capabilities.mountGroup && givesToGroup(driver, volume);
    const wasKept = (await readVolumeData(directory)) !== undefined;
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
    await writeVolumeData(directory, this.#dataOf(volume));
    try {
      await publish(this.#options, { ...request, targetPath: mountIn(directory) }, signal);
    } catch (error) {
      // a pod may be using what was published before
      if (!signal.aborted && isFinal(error) && !wasKept) await places.remove(mountIn(directory));
      throw error;
    }
    const { fsGroup: group, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    if (!isOurs || group === undefined) return;
    const operation = { plugin: metricName(volume), name: 'volume_apply_access_control' };
    const give = () => giveToGroup(mountIn(directory), { group, policy });
    await timed(metrics, operation, give).catch((error: unknown) => {
      throw new PodwrightError('unknown', `applyFSGroup failed for vol ${volume.handle}: ${errorMessage(error)}`);
    });
  }

  #dataOf(volume: CsiVolume): VolumeData {
    const { nodeName } = this.#options;
    return {
      specVolID: volume.name,
      volumeHandle: volume.handle,
      driverName: volume.driver,
      nodeName,
      volumeLifecycleMode: volume.mode,
      attachmentID: attachmentName(volume, nodeName),
      ...labelOf(volume),
    };
  }

  async #unpublish({ directory, data }: KeptVolume): Promise<void> {
    const { drivers, places, driversKnown, metrics } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    const targetPath = mountIn(directory);
    await this.#growth.end(keyOf(data));
    const take = async () => {
      await unpublish(drivers, { driver, handle, targetPath });
      await places.remove(targetPath);
    };
    await this.#tries.run(`- ${directory}`, { driver }, () =>
      this.#locks.run(keyOf(data), async () => {
        if (!drivers.has(driver)) await driversKnown;
        const operation = { plugin: metricName({ driver }), name: 'volume_unmount' };
        await timed(metrics, operation, take).catch((error: unknown) => {
          const volume = data.specVolID ?? basename(directory);
          throw new PodwrightError(
            'failed_precondition',
            `UnmountVolume.TearDown failed for volume "${volume}" : ${CSI_PLUGIN}: Unmounter.TearDownAt failed: ${errorMessage(error)}`,
          );
        });
        this.#published.delete(directory);
        this.#tries.forget(directory);
      }),
    );
  }

  async #unstageUnused({ directory, data }: KeptVolume): Promise<void> {
    const { drivers, places, driversKnown, metrics } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    const key = keyOf(data);
    const stagingPath = globalMountIn(directory);
    const take = async () => {
      await unstage(drivers, { driver, handle, stagingPath });
      await places.remove(stagingPath);
    };
    await this.#locks.run(key, async () => {
      const isGone = (await readVolumeData(directory)) === undefined; // somebody else was here before
      if (isGone || (await this.#isUsed(key))) return;
      if (!drivers.has(driver)) await driversKnown;
      await this.#tries.run(directory, { driver }, async () => {
        const operation = { plugin: metricName({ driver }), name: 'unmount_device' };
        await timed(metrics, operation, take).catch((error: unknown) => {
          const why = `${CSI_PLUGIN}: attacher.UnmountDevice failed: ${errorMessage(error)}`;
          throw new PodwrightError('failed_precondition', `UnmountDevice failed for volume "${key}" : ${why}`);
        });
        this.#staged.delete(directory);
        this.#free(key);
      });
    });
  }

  /** It was staged with another label of SELinux, for a pod that is gone. What a pod may have stays as it is. */
  async #unstageOther(directory: string, data: VolumeData): Promise<void> {
    const { drivers, places } = this.#options;
    if (await this.#isPublished(keyOf(data))) return;
    const stagingPath = globalMountIn(directory);
    await unstage(drivers, { driver: data.driverName, handle: data.volumeHandle, stagingPath });
    await places.remove(stagingPath);
    this.#staged.delete(directory);
  }

  #free(key: string): void {
    this.#growth.forget(key);
    this.#options.inUse.free(key);
  }

  async #isUsed(key: string): Promise<boolean> {
    return this.#options.inUse.isWanted(key) || (await this.#isPublished(key));
  }

  /** Or may be. */
  async #isPublished(key: string): Promise<boolean> {
    const { inUse, places } = this.#options;
    const { kept, unread } = await places.allPublished();
    if (kept.some(({ data }) => keyOf(data) === key)) return true;
    const unknown = unread.find(({ directory }) => !inUse.isWantedAt(directory));
    if (unknown !== undefined) this.#tellUnread(unknown);
    return unknown !== undefined;
  }

  #tellUnread({ directory, problem }: UnreadPlace): void {
    if (this.#told.has(directory)) return;
    this.#told.add(directory);
    this.#options.logger.error(
      { directory, error: problem },
      'a volume of a pod cannot be told: no volume is unstaged until this is mended',
    );
  }

  /** A pod's volume of which nothing is known stays where it is mounted, and so do all of them where they cannot be listed. */
  async #removeUnread({ directory, problem }: UnreadPlace): Promise<void> {
    const { places } = this.#options;
    if (!(await places.isMounted(mountIn(directory)))) return await places.remove(mountIn(directory));
    const why = `UnmountVolume.TearDown failed for volume "${basename(directory)}"`;
    throw new PodwrightError('failed_precondition', `${why} : ${problem}`);
  }

  #logUnstage(error: unknown): void {
    this.#options.logger.warn({ error: errorMessage(error) }, 'a volume that no pod uses stays staged');
  }
}

const mountIn = (directory: string) => join(directory, 'mount');
const globalMountIn = (directory: string) => join(directory, 'globalmount');

function labelOf({ label }: CsiVolume): Pick<VolumeData, 'seLinuxMountContext'> {
  return label === undefined ? {} : { seLinuxMountContext: label };
}

function keyOf({ driverName: driver, volumeHandle: handle }: VolumeData): string {
  return uniqueVolumeName({ driver, handle });
}
