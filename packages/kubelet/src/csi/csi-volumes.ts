import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  Backoff,
  errorMessage,
  KeyedLock,
  type Logger,
  POD_DIRECTORY,
  PodwrightError,
  raceAbort,
  sleep,
  withTimeout,
} from '@podwright/base';
import type { CsiDriver } from '../api/storage.ts';
import type { Pod } from '../api/types.ts';
import { CSI_TIMEOUT_MS, REPORT_BACKOFF } from '../limits.ts';
import { VolumeFailure } from '../volumes/volume-failure.ts';
import { giveToGroup } from '../volumes/volume-ownership.ts';
import { publishContext } from './attachment.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import type { CsiObjects } from './csi-objects.ts';
import type { CsiPlaces, KeptVolume } from './csi-places.ts';
import { attachmentName, CSI_PLUGIN, type CsiVolume, uniqueVolumeName } from './csi-volume.ts';
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
import { RetryGate } from './retry-gate.ts';
import { readVolumeData, type VolumeData, writeVolumeData } from './volume-data.ts';

export type CsiVolumesOptions = {
  drivers: CsiDrivers;
  objects: CsiObjects;
  places: CsiPlaces;
  nodeName: string;
  logger: Logger;
  /** Resolves when the drivers that were there already have had time to register. */
  driversKnown: Promise<void>;
  /** Has the node tell the API server soon which volumes are in use; absent without one. */
  reportInUse?: () => void;
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
  /** Directories of volumes that this process has published, by pods that use them. */
  readonly #published = new Set<string>();
  /** Directories of volumes that this process has staged. */
  readonly #staged = new Set<string>();
  /** Upstream's names of the volumes that pods want or have, by their directories. */
  readonly #wanted = new Map<string, string>();
  /** Those that are attached to the node, as long as they may be used: also staged ones that no pod has any more. */
  readonly #inUse = new Set<string>();
  /** Those of which the API server knows that, and who waits for more. */
  #reported: ReadonlySet<string> = new Set();
  #onReported = Promise.withResolvers<void>();

  constructor(options: CsiVolumesOptions) {
    this.#options = options;
  }

  /** Reads what an earlier kubelet left, so that none of it is detached before its pods are known. */
  async load(): Promise<void> {
    const { places } = this.#options;
    const published = (await places.allPublished()).filter(({ data }) => data.volumeLifecycleMode !== 'Ephemeral');
    for (const { data } of [...published, ...(await places.allStaged())]) this.#inUse.add(keyOf(data));
  }

  /** Brings the volume to the pod and returns where. What is there stays, unless its driver wants to be called again. */
  async setUp(pod: Pod, volume: CsiVolume, signal: AbortSignal): Promise<string> {
    const { objects, places } = this.#options;
    const directory = places.published(pod.metadata.uid, volume);
    const driver = await objects.driver(volume.driver, signal);
    const isThere = this.#published.has(directory);
    if (isThere && driver?.spec.requiresRepublish !== true) return mountIn(directory);
    const attachable = volume.mode === 'Persistent' && driver?.spec.attachRequired !== false;
    const key = uniqueVolumeName(volume);
    this.#wanted.set(directory, key);
    if (attachable) this.#inUse.add(key);
    else this.#inUse.delete(key);
    await this.#tries.run(directory, { driver: volume.driver, signal }, () =>
      this.#locks.run(key, () => this.#mount({ pod, volume, driver, directory, attachable }, signal), signal),
    );
    return mountIn(directory);
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
    const { places } = this.#options;
    const published = await places.publishedOf(podUid);
    throwFirst(await Promise.allSettled(published.map((kept) => this.#unpublish(kept))));
    const left = [...this.#wanted].filter(([directory]) => dirname(directory) === places.publishedRoot(podUid));
    for (const [directory] of left) this.#wanted.delete(directory);
    await this.removeUnused();
    for (const [, key] of left) if (!(await this.#isUsed(key))) this.#free(key);
  }

  /** Unstages what no pod uses. Rejects with the first that does not go. */
  async removeUnused(): Promise<void> {
    const staged = await this.#options.places.allStaged();
    if (staged.length === 0) return;
    throwFirst(await Promise.allSettled(staged.map((kept) => this.#unstageUnused(kept))));
  }

  /** Lets what failed for want of a driver be tried at once. */
  driverRegistered(driver: string): void {
    this.#tries.release(driver);
    this.removeUnused().catch((error: unknown) => this.#logUnstage(error));
  }

  /** Upstream's names of the volumes that must not be detached from the node, for its status. */
  volumesInUse(): string[] {
    return [...this.#inUse].sort();
  }

  /** What the API server was told of `volumesInUse`. */
  volumesReported(names: readonly string[]): void {
    this.#reported = new Set(names);
    this.#onReported.resolve();
    this.#onReported = Promise.withResolvers();
  }

  /** A volume that is not known to be in use could be detached while it is mounted. */
  async #untilReported(key: string, parent: AbortSignal): Promise<void> {
    const { reportInUse } = this.#options;
    if (reportInUse === undefined) return;
    using signal = withTimeout(parent, CSI_TIMEOUT_MS, 'tell which volumes are in use');
    const pauses = new Backoff(REPORT_BACKOFF);
    while (!this.#reported.has(key)) {
      const reported = this.#onReported.promise;
      reportInUse();
      await raceAbort(reported, signal);
      // a report that was refused, or whose volume was dropped, tells nothing new by itself
      if (!this.#reported.has(key)) await sleep(pauses.next(''), signal);
    }
  }

  async #mount(want: Want, signal: AbortSignal): Promise<void> {
    const { pod, volume, driver, directory, attachable } = want;
    const { drivers, objects, nodeName, driversKnown } = this.#options;
    if (!drivers.has(volume.driver)) await driversKnown;
    const context = await inStep('MountVolume.WaitForAttach', volume, async () => {
      if (!attachable) return {};
      await this.#untilReported(uniqueVolumeName(volume), signal);
      return publishContext(volume, { objects, nodeName, signal });
    });
    const step = volume.mode === 'Persistent' ? 'MountVolume.MountDevice' : 'MountVolume.SetUp';
    const request = await inStep(step, volume, async (): Promise<MountRequest> => {
      this.#requireDriver(volume);
      const capabilities = await askCapabilities(this.#options, volume.driver, signal);
      const stages = volume.mode === 'Persistent' && capabilities.stage;
      const stagingPath = stages ? globalMountIn(this.#options.places.staged(volume)) : undefined;
      return { pod, volume, driver, publishContext: context, capabilities, stagingPath };
    });
    if (request.stagingPath !== undefined)
      await inStep('MountVolume.MountDevice', volume, () => this.#stage(request, request.stagingPath!, signal));
    await inStep('MountVolume.SetUp', volume, () => this.#publish(request, directory, signal));
  }

  #requireDriver({ driver, mode }: CsiVolume): void {
    const what =
      mode === 'Persistent'
        ? 'attacher.MountDevice failed to create newCsiDriverClient'
        : 'mounter.SetUpAt failed to get CSI client';
    try {
      this.#options.drivers.require(driver);
    } catch (error) {
      throw new PodwrightError('unavailable', `${CSI_PLUGIN}: ${what}: ${errorMessage(error)}`);
    }
  }

  async #stage(request: MountRequest, path: string, signal: AbortSignal): Promise<void> {
    const { places } = this.#options;
    const { volume } = request;
    const directory = dirname(path);
    if (this.#staged.has(directory)) return;
    const wasKept = (await readVolumeData(directory)) !== undefined;
    await mkdir(path, { recursive: true, mode: POD_DIRECTORY });
    await writeVolumeData(directory, { volumeHandle: volume.handle, driverName: volume.driver });
    try {
      await stage(this.#options, request, signal);
    } catch (error) {
      if (!signal.aborted && isFinal(error) && !wasKept) await places.remove(path);
      throw error;
    }
    this.#staged.add(directory);
  }

  async #publish(request: MountRequest, directory: string, signal: AbortSignal): Promise<void> {
    const { places } = this.#options;
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
    if (isOurs && group !== undefined)
      await giveToGroup(mountIn(directory), { group, policy }).catch((error: unknown) => {
        throw new PodwrightError('unknown', `applyFSGroup failed for vol ${volume.handle}: ${errorMessage(error)}`);
      });
    this.#published.add(directory);
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
    };
  }

  async #unpublish({ directory, data }: KeptVolume): Promise<void> {
    const { drivers, places, driversKnown } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    const targetPath = mountIn(directory);
    await this.#tries.run(`- ${directory}`, { driver }, () =>
      this.#locks.run(keyOf(data), async () => {
        if (!drivers.has(driver)) await driversKnown;
        try {
          await unpublish(drivers, { driver, handle, targetPath });
          await places.remove(targetPath);
        } catch (error) {
          const volume = data.specVolID ?? basename(directory);
          throw new PodwrightError(
            'failed_precondition',
            `UnmountVolume.TearDown failed for volume "${volume}" : ${CSI_PLUGIN}: Unmounter.TearDownAt failed: ${errorMessage(error)}`,
          );
        }
        this.#published.delete(directory);
        this.#tries.forget(directory);
      }),
    );
  }

  async #unstageUnused({ directory, data }: KeptVolume): Promise<void> {
    const { drivers, places, driversKnown } = this.#options;
    const { driverName: driver, volumeHandle: handle } = data;
    const key = keyOf(data);
    await this.#locks.run(key, async () => {
      const isGone = (await readVolumeData(directory)) === undefined; // somebody else was here before
      if (isGone || (await this.#isUsed(key))) return;
      if (!drivers.has(driver)) await driversKnown;
      await this.#tries.run(directory, { driver }, async () => {
        const stagingPath = globalMountIn(directory);
        try {
          await unstage(drivers, { driver, handle, stagingPath });
          await places.remove(stagingPath);
        } catch (error) {
          const why = `${CSI_PLUGIN}: attacher.UnmountDevice failed: ${errorMessage(error)}`;
          throw new PodwrightError('failed_precondition', `UnmountDevice failed for volume "${key}" : ${why}`);
        }
        this.#staged.delete(directory);
        this.#free(key);
      });
    });
  }

  /** It may be detached: the sooner the API server hears of that, the sooner another node can have it. */
  #free(key: string): void {
    if (this.#inUse.delete(key)) this.#options.reportInUse?.();
  }

  async #isUsed(key: string): Promise<boolean> {
    if ([...this.#wanted.values()].includes(key)) return true;
    return (await this.#options.places.allPublished()).some(({ data }) => keyOf(data) === key);
  }

  #logUnstage(error: unknown): void {
    this.#options.logger.warn({ error: errorMessage(error) }, 'a volume that no pod uses stays staged');
  }
}

/** A volume that a pod is to have at a directory. */
type Want = { pod: Pod; volume: CsiVolume; driver: CsiDriver | undefined; directory: string; attachable: boolean };

const mountIn = (directory: string) => join(directory, 'mount');
const globalMountIn = (directory: string) => join(directory, 'globalmount');

function keyOf({ driverName: driver, volumeHandle: handle }: VolumeData): string {
  return uniqueVolumeName({ driver, handle });
}

function throwFirst(results: PromiseSettledResult<void>[]): void {
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Names the step of upstream's that a failure is of. */
async function inStep<T>(step: string, { name }: CsiVolume, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new VolumeFailure(`${step} failed for volume "${name}" : ${errorMessage(error)}`);
  }
}
