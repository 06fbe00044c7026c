import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorMessage, KeyedLock, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import { attachmentName, CSI_PLUGIN, type Pod, uniqueVolumeName } from '@podwright/kube-api';
import { isOfOnePod, refuseSecondPod } from '../volumes/one-pod.ts';
import { timed } from '../volumes/storage-metrics.ts';
import { changeGroup } from '../volumes/volume-ownership.ts';
import { type CsiVolume, metricName } from './csi-volume.ts';
import {
  getCapabilities,
  isFinal,
  type MountRequest,
  publish,
  unpublish,
  usageOf,
  type VolumeUsageStats,
} from './driver-calls.ts';
import { checkLifecycle, needsGroupChange } from './fs-group.ts';
import { GrowthUnderPods } from './growth-under-pods.ts';
import {
  allOf,
  contextOf,
  inStep,
  keepUnread,
  type PodVolume,
  requireDriver,
  stepFailure,
  untilAttached,
} from './mount-steps.ts';
import { RetryGate } from './retry-gate.ts';
import { mountLabel, type SeLinuxHost } from './selinux-label.ts';
import { globalMountIn, keyOf, labelOf, StagedVolumes, type StagedVolumesOptions } from './staged-volumes.ts';
import {
  type RecordedVolume,
  readVolumeData,
  type UnreadDirectory,
  type VolumeData,
  writeVolumeData,
} from './volume-data.ts';
import type { PlacedVolume, VolumeExpansion } from './volume-expansion.ts';

export type CsiVolumesOptions = StagedVolumesOptions & {
  expansion: VolumeExpansion;
  /** The host's SELinux policy; `undefined` on a host without SELinux. */
  seLinux?: SeLinuxHost;
};

/**
 * CSI file system volumes. A volume is staged once per node and published once per pod; teardown is the reverse. Every step is recorded in
 * `vol_data.json` before the driver is called: if the kubelet is killed, it resumes from there after a restart. Operations on the same
 * volume run one at a time, independently of other volumes.
 */
export class CsiVolumes {
  readonly #options: CsiVolumesOptions;
  readonly #locks = new KeyedLock();
  readonly #tries = new RetryGate();
  readonly #growth: GrowthUnderPods;
  /** Target directories of the volumes that this process has published, one per volume and pod. */
  readonly #published = new Set<string>();
  readonly #staged: StagedVolumes;

  constructor(options: CsiVolumesOptions) {
    this.#options = options;
    this.#growth = new GrowthUnderPods(options);
    this.#staged = new StagedVolumes(options, {
      ...{ locks: this.#locks, tries: this.#tries },
      onFree: (key) => this.#free(key),
    });
  }

  /**
   * Marks an earlier kubelet's volumes as in use, so that none is detached before the kubelet has read its pods, and removes volume
   * directories without a `vol_data.json` file. Must be called before any driver registers, while nothing else modifies the directories.
   */
  async load(): Promise<void> {
    const { paths, inUse, logger } = this.#options;
    const [staged, published] = await Promise.all([paths.allStaged(), paths.allPublished()]);
    for (const { data } of [...staged.recorded, ...published.recorded])
      if (data.volumeLifecycleMode !== 'Ephemeral') inUse.keep(keyOf(data));
    keepUnread([...staged.unread, ...published.unread], { inUse, logger });
    await paths.removeUnrecorded();
  }

  /**
   * Publishes the volume for the pod and returns its path. A published volume is only published again if its driver requires republishing.
   * If it has grown, it is expanded in the background.
   */
  async setUp(pod: Pod, requested: CsiVolume, signal: AbortSignal): Promise<string> {
    const { objects, paths, inUse, seLinux: host } = this.#options;
    const place = paths.published(pod.metadata.uid, requested);
    const driver = await objects.driver(requested.driver, signal);
    const volume = { ...requested, label: mountLabel(requested, { pod, driver, host }) };
    const isPublished = this.#published.has(place);
    const failedToGrow = isPublished ? this.#growth.check(this.#placed(pod, volume)) : undefined;
    if (isPublished && driver?.spec.requiresRepublish !== true) {
      if (failedToGrow !== undefined) throw failedToGrow;
      return mountIn(place);
    }
    const attachable = volume.mode === 'Persistent' && driver?.spec.attachRequired !== false;
    const key = uniqueVolumeName(volume);
    inUse.request(place, key, { attachable });
    const podVolume = { pod, volume, driver, place, attachable };
    await this.#tries.run(place, { driver: volume.driver, signal }, async () => {
      await untilAttached(this.#options, podVolume, signal);
      await this.#locks.run(key, () => this.#mount(podVolume, signal), signal);
    });
    if (failedToGrow !== undefined) throw failedToGrow;
    return mountIn(place);
  }

  /** Returns the path of a volume already published by `setUp`, in this process or an earlier one. */
  async existingPath(pod: Pod, volume: CsiVolume): Promise<string | undefined> {
    const { paths } = this.#options;
    const directory = paths.published(pod.metadata.uid, volume);
    if ((await readVolumeData(directory)) === undefined) return undefined;
    return (await paths.isMounted(mountIn(directory))) ? mountIn(directory) : undefined;
  }

  /** Returns the driver's statistics for the pod's volume at this path; `undefined` if it is not a CSI volume. */
  use(path: string): Promise<VolumeUsageStats> | undefined {
    const directory = dirname(path);
    return this.#published.has(directory) ? this.#usageOf(directory, path) : undefined;
  }

  async #usageOf(directory: string, path: string): Promise<VolumeUsageStats> {
    const data = await readVolumeData(directory);
    if (data === undefined) throw new PodwrightError('not_found', `there is no record of the volume at ${directory}`);
    return usageOf(this.#options.drivers, { driver: data.driverName, handle: data.volumeHandle, path });
  }

  /** Unpublishes all of a pod's volumes, and unstages volumes not used by any other pod. Rejects with the first failure. */
  async tearDown(podUid: string): Promise<void> {
    const { paths, inUse } = this.#options;
    const { recorded, unread } = await paths.publishedOf(podUid);
    await allOf([...recorded.map((one) => this.#unpublish(one)), ...unread.map((one) => this.#removeUnread(one))]);
    const isLeft = (place: string) => dirname(place) === paths.publishedRoot(podUid);
    const left = inUse.removePlaces(isLeft);
    this.#tries.forgetWhere(isLeft);
    try {
      await this.removeUnused();
    } finally {
      const staged = await paths.allStaged();
      const names = new Set(staged.recorded.map(({ data }) => keyOf(data)));
      const isUnread = (key: string) => staged.unread.some(({ directory }) => paths.isStagedAt(directory, key));
      for (const key of left)
        if (!names.has(key) && !isUnread(key) && !(await this.#staged.isUsed(key))) this.#free(key);
    }
  }

  /** Unstages volumes not used by any pod. Rejects with the first failure. */
  async removeUnused(): Promise<void> {
    await this.#staged.removeUnused();
  }

  /** Ends the back-off of operations that failed because the driver was not registered. */
  driverRegistered(driver: string): void {
    this.#tries.release(driver);
    this.#growth.release(driver);
    this.removeUnused().catch((error: unknown) => this.#logUnstage(error));
  }

  async #mount(podVolume: PodVolume, signal: AbortSignal): Promise<void> {
    const { pod, volume, driver, place } = podVolume;
    const { drivers, paths } = this.#options;
    if (isOfOnePod(volume)) await inStep('MountVolume.SetUp', volume, () => this.#refuseSecond(podVolume));
    const publishContext = await contextOf(this.#options, podVolume, signal);
    const isPersistent = volume.mode === 'Persistent';
    const [step, what] = isPersistent
      ? ['MountVolume.MountDevice', 'attacher.MountDevice failed to create newCsiDriverClient']
      : ['MountVolume.SetUp', 'mounter.SetUpAt failed to get CSI client'];
    const request = await inStep(step, volume, async (): Promise<MountRequest> => {
      requireDriver(drivers, volume, what);
      const capabilities = await getCapabilities(this.#options, volume.driver, signal);
      const stagingPath = isPersistent && capabilities.stage ? globalMountIn(paths.staged(volume)) : undefined;
      return { pod, volume, driver, publishContext, capabilities, stagingPath };
    });
    if (request.stagingPath !== undefined)
      await inStep('MountVolume.MountDevice', volume, () => this.#staged.stage(request, request.stagingPath!, signal));
    await inStep('MountVolume.SetUp', volume, () => this.#publish(request, place, signal));
    if (this.#published.has(place)) return;
    await this.#growth.beforeUse(this.#placed(pod, volume), signal).catch((error: unknown) => {
      throw stepFailure('MountVolume.Setup failed while expanding volume', volume, error);
    });
    this.#published.add(place);
  }

  #placed(pod: Pod, volume: CsiVolume): PlacedVolume {
    const { paths } = this.#options;
    const volumePath = mountIn(paths.published(pod.metadata.uid, volume));
    return { pod, volume, volumePath, stagingPath: globalMountIn(paths.staged(volume)) };
  }

  async #refuseSecond({ volume, place }: PodVolume): Promise<void> {
    const key = uniqueVolumeName(volume);
    const { recorded: published } = await this.#options.paths.allPublished();
    if (published.some(({ directory, data }) => keyOf(data) === key && directory !== place)) refuseSecondPod();
  }

  async #publish(request: MountRequest, directory: string, signal: AbortSignal): Promise<void> {
    const { paths, metrics } = this.#options;
    const { pod, volume, driver, capabilities } = request;
    checkLifecycle(driver, volume);
    const isOurs = !capabilities.mountGroup && needsGroupChange(driver, volume);
    const wasRecorded = (await readVolumeData(directory)) !== undefined;
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
    await writeVolumeData(directory, this.#dataOf(volume));
    try {
      await publish(this.#options, { ...request, targetPath: mountIn(directory) }, signal);
    } catch (error) {
      // if there already was a record, the volume may still be published and used by a pod
      if (!signal.aborted && isFinal(error) && !wasRecorded) await paths.remove(mountIn(directory));
      throw error;
    }
    const { fsGroup: group, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    if (!isOurs || group === undefined) return;
    const operation = { plugin: metricName(volume), name: 'volume_apply_access_control' };
    const give = () => changeGroup(mountIn(directory), { group, policy });
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

  async #unpublish({ directory, data }: RecordedVolume): Promise<void> {
    const { drivers, paths, driversKnown, metrics } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    const targetPath = mountIn(directory);
    await this.#growth.end(keyOf(data));
    const take = async () => {
      await unpublish(drivers, { driver, handle, targetPath });
      await paths.remove(targetPath);
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

  #free(key: string): void {
    this.#growth.forget(key);
    this.#options.inUse.free(key);
  }

  /**
   * Removes a pod's volume without a readable record, unless something is mounted there. If the pod's volumes cannot be listed, leaves all
   * of them in place.
   */
  async #removeUnread({ directory, problem }: UnreadDirectory): Promise<void> {
    const { paths } = this.#options;
    if (!(await paths.isMounted(mountIn(directory)))) return await paths.remove(mountIn(directory));
    const why = `UnmountVolume.TearDown failed for volume "${basename(directory)}"`;
    throw new PodwrightError('failed_precondition', `${why} : ${problem}`);
  }

  #logUnstage(error: unknown): void {
    this.#options.logger.warn({ error: errorMessage(error) }, 'cannot unstage a volume that no pod uses');
  }
}

const mountIn = (directory: string) => join(directory, 'mount');
