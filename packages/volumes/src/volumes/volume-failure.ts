import { PodwrightError } from '@podwright/base';

/** Reason of the event by which people hear of it. */
export type VolumeFailureReason = 'FailedMount' | 'FailedMapVolume' | 'VolumeResizeFailed';

/** Why a volume cannot be used, as the whole message that people see. */
export class VolumeFailure extends PodwrightError {
  readonly reason: VolumeFailureReason;
  /** Nothing was done with the volume: no metric counts it. */
  readonly isUntried: boolean;

  constructor(message: string, reason: VolumeFailureReason = 'FailedMount', { isUntried = false } = {}) {
    super('failed_precondition', message);
    this.reason = reason;
    this.isUntried = isUntried;
  }

  /** The same, told again without another try. */
  untried(): VolumeFailure {
    return new VolumeFailure(this.message, this.reason, { isUntried: true });
  }
}

/** As upstream words a volume whose mount fails; of a claim it names the volume that the claim has. */
export function setUpFailure(volumeName: string, why: string): VolumeFailure {
  return new VolumeFailure(`MountVolume.SetUp failed for volume "${volumeName}" : ${why}`);
}
