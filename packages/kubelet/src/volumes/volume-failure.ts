import { PodwrightError } from '@podwright/base';

/** Reason of the event by which people hear of it. */
export type VolumeFailureReason = 'FailedMount' | 'FailedMapVolume' | 'VolumeResizeFailed';

/** Why a volume cannot be used, as the whole message that people see. */
export class VolumeFailure extends PodwrightError {
  readonly reason: VolumeFailureReason;

  constructor(message: string, reason: VolumeFailureReason = 'FailedMount') {
    super('failed_precondition', message);
    this.reason = reason;
  }
}

/** As upstream words a volume whose mount fails; of a claim it names the volume that the claim has. */
export function setUpFailure(volumeName: string, why: string): VolumeFailure {
  return new VolumeFailure(`MountVolume.SetUp failed for volume "${volumeName}" : ${why}`);
}
