import { PodwrightError } from '@podwright/base';

/** Reason of the event about the failure. */
export type VolumeFailureReason = 'FailedMount' | 'FailedMapVolume' | 'VolumeResizeFailed';

/** Why a volume cannot be used; the message is the whole text of the event. */
export class VolumeFailure extends PodwrightError {
  readonly reason: VolumeFailureReason;
  /** The operation was not attempted: metrics do not count it. */
  readonly isUntried: boolean;

  constructor(message: string, reason: VolumeFailureReason = 'FailedMount', { isUntried = false } = {}) {
    super('failed_precondition', message);
    this.reason = reason;
    this.isUntried = isUntried;
  }

  /** The same failure, reported again without another attempt. */
  untried(): VolumeFailure {
    return new VolumeFailure(this.message, this.reason, { isUntried: true });
  }
}

/** Upstream's message for a volume whose mount fails; for a claim with the bound volume's name. */
export function setUpFailure(volumeName: string, why: string): VolumeFailure {
  return new VolumeFailure(`MountVolume.SetUp failed for volume "${volumeName}" : ${why}`);
}
