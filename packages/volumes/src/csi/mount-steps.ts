/** Steps of setting up a CSI volume that mounting a file system and mapping a block device have in common. */
import { errorMessage, isDeadlineExceeded, type Logger, PodwrightError } from '@podwright/base';
import { CSI_PLUGIN, type CsiDriver, type Pod, uniqueVolumeName } from '@podwright/kube-api';
import { VolumeFailure, type VolumeFailureReason } from '../volumes/volume-failure.ts';
import { publishContext } from './attachment.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import type { CsiObjects } from './csi-objects.ts';
import type { CsiVolume } from './csi-volume.ts';
import type { UnreadDirectory } from './volume-data.ts';
import type { VolumesInUse } from './volumes-in-use.ts';

/** A volume required by a pod at the path `place`. */
export type PodVolume = {
  pod: Pod;
  volume: CsiVolume;
  driver: CsiDriver | undefined;
  place: string;
  attachable: boolean;
};

export type StepParts = {
  drivers: CsiDrivers;
  objects: CsiObjects;
  inUse: VolumesInUse;
  nodeName: string;
  /** Resolves once drivers that were already running have had time to register after the kubelet started. */
  driversKnown: Promise<void>;
};

/**
 * Logs leftover volumes of an earlier kubelet whose records are unreadable. If there are any, all volumes that the Node object lists as in
 * use remain in use.
 */
export function keepUnread(
  unread: UnreadDirectory[],
  { inUse, logger }: Pick<StepParts, 'inUse'> & { logger: Logger },
): void {
  for (const { directory, problem } of unread)
    logger.error(
      { directory, error: problem },
      'cannot read a leftover volume of an earlier kubelet: volumes that the node object lists in use stay in use until this is fixed and the kubelet restarted',
    );
  if (unread.length > 0) inUse.keepReported();
}

/** Waits until the driver is registered and, if the volume is attachable, until it is attached. Must be called without holding a lock. */
export async function untilAttached(parts: StepParts, podVolume: PodVolume, signal: AbortSignal): Promise<void> {
  const { drivers, inUse, driversKnown } = parts;
  const { volume, attachable } = podVolume;
  if (!drivers.has(volume.driver)) await driversKnown;
  if (!attachable) return;
  await inUse.untilAttached(uniqueVolumeName(volume), signal).catch((error: unknown) => {
    throw isDeadlineExceeded(error) ? unattached(volume) : error;
  });
}

/** Returns the attachment's publish context; empty if the volume is not attachable. */
export async function contextOf(
  parts: StepParts,
  podVolume: PodVolume,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const { objects, nodeName } = parts;
  const { volume, attachable } = podVolume;
  if (!attachable) return {};
  const step = `${operationOf(volume)}.WaitForAttach`;
  return await inStep(step, volume, () => publishContext(volume, { objects, nodeName, signal }));
}

/**
 * Creates the error for a volume that was not attached before the timeout. Until then, nothing is reported, because attaching takes time.
 */
function unattached({ name, nameInPod = name }: CsiVolume): VolumeFailure {
  const names = `unmounted volumes=[${nameInPod}], unattached volumes=[${nameInPod}], failed to process volumes=[]`;
  return new VolumeFailure(`Unable to attach or mount volumes: ${names}: context deadline exceeded`);
}

/** Throws `unavailable` if the driver is not registered. `what`: description of the failed step, for the error message. */
export function requireDriver(drivers: CsiDrivers, { driver }: Pick<CsiVolume, 'driver'>, what: string): void {
  try {
    drivers.require(driver);
  } catch (error) {
    throw new PodwrightError('unavailable', `${CSI_PLUGIN}: ${what}: ${errorMessage(error)}`);
  }
}

/** Prefixes errors from `work` with the name of the failed step and the volume's name, like upstream. */
export async function inStep<T>(step: string, volume: CsiVolume, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw stepFailure(`${step} failed`, volume, error);
  }
}

export function stepFailure(what: string, { name, isBlock }: CsiVolume, error: unknown): VolumeFailure {
  const reason: VolumeFailureReason = isBlock ? 'FailedMapVolume' : 'FailedMount';
  return new VolumeFailure(`${what} for volume "${name}" : ${errorMessage(error)}`, reason);
}

/** Waits for all promises to settle, then rejects with the first failure, if any. */
export async function allOf(work: Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function operationOf({ isBlock }: CsiVolume): string {
  return isBlock ? 'MapVolume' : 'MountVolume';
}
