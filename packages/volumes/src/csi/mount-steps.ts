/** What mounting a volume and mapping a device have in common. */
import { errorMessage, isDeadlineExceeded, type Logger, PodwrightError } from '@podwright/base';
import type { CsiDriver, Pod } from '@podwright/kube-api';
import { VolumeFailure, type VolumeFailureReason } from '../volumes/volume-failure.ts';
import { publishContext } from './attachment.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import type { CsiObjects } from './csi-objects.ts';
import { CSI_PLUGIN, type CsiVolume, uniqueVolumeName } from './csi-volume.ts';
import type { UnreadPlace } from './volume-data.ts';
import type { VolumesInUse } from './volumes-in-use.ts';

/** A volume that a pod is to have at a place. */
export type Want = { pod: Pod; volume: CsiVolume; driver: CsiDriver | undefined; place: string; attachable: boolean };

export type StepParts = {
  drivers: CsiDrivers;
  objects: CsiObjects;
  inUse: VolumesInUse;
  nodeName: string;
  /** Resolves when the drivers that were there already have had time to register. */
  driversKnown: Promise<void>;
};

/** What an earlier kubelet left of which it cannot be read which volumes they are. */
export function keepUnread(
  unread: UnreadPlace[],
  { inUse, logger }: Pick<StepParts, 'inUse'> & { logger: Logger },
): void {
  for (const { directory, problem } of unread)
    logger.error(
      { directory, error: problem },
      'a volume that an earlier kubelet left cannot be told: what the node object has in use stays in use until this is mended and the kubelet restarted',
    );
  if (unread.length > 0) inUse.keepTold();
}

/** Waits for the driver, and until the volume is attached if it is to be. Nobody else may have to wait for that. */
export async function untilAttached(parts: StepParts, want: Want, signal: AbortSignal): Promise<void> {
  const { drivers, inUse, driversKnown } = parts;
  const { volume, attachable } = want;
  if (!drivers.has(volume.driver)) await driversKnown;
  if (!attachable) return;
  await inUse.untilAttached(uniqueVolumeName(volume), signal).catch((error: unknown) => {
    throw isDeadlineExceeded(error) ? unattached(volume) : error;
  });
}

/** What the attaching gave, for the driver; nothing of what is not attached. */
export async function contextOf(parts: StepParts, want: Want, signal: AbortSignal): Promise<Record<string, string>> {
  const { objects, nodeName } = parts;
  const { volume, attachable } = want;
  if (!attachable) return {};
  const step = `${operationOf(volume)}.WaitForAttach`;
  return await inStep(step, volume, () => publishContext(volume, { objects, nodeName, signal }));
}

/** Nobody hears of it before: to attach a volume takes its time. */
function unattached({ name, nameInPod = name }: CsiVolume): VolumeFailure {
  const names = `unmounted volumes=[${nameInPod}], unattached volumes=[${nameInPod}], failed to process volumes=[]`;
  return new VolumeFailure(`Unable to attach or mount volumes: ${names}: context deadline exceeded`);
}

/** `what` is what failed, of a driver that is not there. */
export function requireDriver(drivers: CsiDrivers, { driver }: Pick<CsiVolume, 'driver'>, what: string): void {
  try {
    drivers.require(driver);
  } catch (error) {
    throw new PodwrightError('unavailable', `${CSI_PLUGIN}: ${what}: ${errorMessage(error)}`);
  }
}

/** Names the step of upstream's that a failure is of. */
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

/** Rejects with the first failure, once all have ended. */
export async function allOf(work: Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function operationOf({ isBlock }: CsiVolume): string {
  return isBlock ? 'MapVolume' : 'MountVolume';
}
