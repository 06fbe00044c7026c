/** Stages CSI file system volumes on the node, each once for all pods using it. */

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage, type KeyedLock, type Logger, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import { CSI_PLUGIN, uniqueVolumeName } from '@podwright/kube-api';
import { type StorageMetrics, timed } from '../volumes/storage-metrics.ts';
import type { CsiPaths } from './csi-paths.ts';
import { type CsiVolume, metricName } from './csi-volume.ts';
import { isFinal, type MountRequest, stage, unstage } from './driver-calls.ts';
import { allOf, type StepParts } from './mount-steps.ts';
import type { RetryGate } from './retry-gate.ts';
import {
  type RecordedVolume,
  readVolumeData,
  type UnreadDirectory,
  type VolumeData,
  writeVolumeData,
} from './volume-data.ts';

export type StagedVolumesOptions = StepParts & { paths: CsiPaths; logger: Logger; metrics?: StorageMetrics };

/**
 * Dependencies shared with `CsiVolumes`. `locks`: one lock per unique volume name. `onFree`: called with a volume's unique name after the
 * volume has been unstaged.
 */
type Shared = { locks: KeyedLock; tries: RetryGate; onFree: (key: string) => void };

export class StagedVolumes {
  readonly #options: StagedVolumesOptions;
  readonly #shared: Shared;
  /** Directories of the volumes staged by this process. */
  readonly #staged = new Set<string>();
  readonly #loggedUnread = new Set<string>();

  constructor(options: StagedVolumesOptions, shared: Shared) {
    this.#options = options;
    this.#shared = shared;
  }

  /** Stages a volume at `path` unless already staged by this process. The caller must hold the volume's lock. */
  async stage(request: MountRequest, path: string, signal: AbortSignal): Promise<void> {
    const { paths } = this.#options;
    const { volume } = request;
    const directory = dirname(path);
    const recorded = await readVolumeData(directory);
    if (recorded !== undefined && recorded.seLinuxMountContext !== volume.label)
      await this.#unstageOther(directory, recorded);
    if (this.#staged.has(directory)) return;
    const wasRecorded = (await readVolumeData(directory)) !== undefined;
    await mkdir(path, { recursive: true, mode: POD_DIRECTORY });
    const data = { volumeHandle: volume.handle, driverName: volume.driver };
    await writeVolumeData(directory, { ...data, ...labelOf(volume) });
    try {
      await stage(this.#options, request, signal);
    } catch (error) {
      if (!signal.aborted && isFinal(error) && !wasRecorded) await paths.remove(path);
      throw error;
    }
    this.#staged.add(directory);
  }

  /** Unstages volumes not used by any pod. Rejects with the first failure. */
  async removeUnused(): Promise<void> {
    const { recorded } = await this.#options.paths.allStaged();
    await allOf(recorded.map((one) => this.#unstageUnused(one)));
  }

  /** Whether the volume is used or requested by any pod. */
  async isUsed(key: string): Promise<boolean> {
    return this.#options.inUse.isRequested(key) || (await this.#isPublished(key));
  }

  /** Whether the volume is, or may be, used by any pod. */
  async #isPublished(key: string): Promise<boolean> {
    const { inUse, paths } = this.#options;
    const { recorded, unread } = await paths.allPublished();
    if (recorded.some(({ data }) => keyOf(data) === key)) return true;
    const unknown = unread.find(({ directory }) => !inUse.isRequestedAt(directory));
    if (unknown !== undefined) this.#logUnread(unknown);
    return unknown !== undefined;
  }

  #logUnread({ directory, problem }: UnreadDirectory): void {
    if (this.#loggedUnread.has(directory)) return;
    this.#loggedUnread.add(directory);
    this.#options.logger.error(
      { directory, error: problem },
      'cannot read which volume of a pod this is: no volume is unstaged until this is fixed',
    );
  }

  async #unstageUnused({ directory, data }: RecordedVolume): Promise<void> {
    const { drivers, paths, driversKnown, metrics } = this.#options;
    const { locks, tries, onFree } = this.#shared;
    const { driverName: driver, volumeHandle: handle } = data;
    const key = keyOf(data);
    const stagingPath = globalMountIn(directory);
    const take = async () => {
      await unstage(drivers, { driver, handle, stagingPath });
      await paths.remove(stagingPath);
    };
    await locks.run(key, async () => {
      const isRemoved = (await readVolumeData(directory)) === undefined; // another call may have removed it first
      if (isRemoved || (await this.isUsed(key))) return;
      if (!drivers.has(driver)) await driversKnown;
      await tries.run(directory, { driver }, async () => {
        const operation = { plugin: metricName({ driver }), name: 'unmount_device' };
        await timed(metrics, operation, take).catch((error: unknown) => {
          const why = `${CSI_PLUGIN}: attacher.UnmountDevice failed: ${errorMessage(error)}`;
          throw new PodwrightError('failed_precondition', `UnmountDevice failed for volume "${key}" : ${why}`);
        });
        this.#staged.delete(directory);
        onFree(key);
      });
    });
  }

  /** Unstages a volume that was staged with the SELinux label of an earlier pod, unless a pod uses or may still use it. */
  async #unstageOther(directory: string, data: VolumeData): Promise<void> {
    const { drivers, paths } = this.#options;
    if (await this.#isPublished(keyOf(data))) return;
    const stagingPath = globalMountIn(directory);
    await unstage(drivers, { driver: data.driverName, handle: data.volumeHandle, stagingPath });
    await paths.remove(stagingPath);
    this.#staged.delete(directory);
  }
}

export const globalMountIn = (directory: string): string => join(directory, 'globalmount');

/** Returns the SELinux label that the volume is mounted with, as part of its record. */
export function labelOf({ label }: CsiVolume): Pick<VolumeData, 'seLinuxMountContext'> {
  return label === undefined ? {} : { seLinuxMountContext: label };
}

/** Returns a recorded volume's unique name, in the same form as in the node status. */
export function keyOf({ driverName: driver, volumeHandle: handle }: VolumeData): string {
  return uniqueVolumeName({ driver, handle });
}
