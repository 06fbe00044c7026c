import { PodwrightError } from '@podwright/base';

/** Reason of the event that reports the failure. */
export type VolumeFailureReason = 'FailedMount' | 'FailedMapVolume' | 'VolumeResizeFailed';

/** Thrown if a volume cannot be used. The message is the full text of the event. */
export class VolumeFailure extends PodwrightError {
  readonly reason: VolumeFailureReason;
  /** Whether the operation was not attempted. Such failures are excluded from metrics. */
  readonly isUntried: boolean;

  constructor(message: string, reason: VolumeFailureReason = 'FailedMount', { isUntried = false } = {}) {
    super('failed_precondition', message);
    this.reason = reason;
    this.isUntried = isUntried;
  }

  /**
   * Returns the same failure for an attempt that was skipped, for example during back-off: `isUntried` is true, which excludes it from
   * metrics.
   */
  untried(): VolumeFailure {
    return new VolumeFailure(this.message, this.reason, { isUntried: true });
  }
}

/** Returns upstream's failure for a volume that cannot be mounted. For a claim, `volumeName` is the name of the bound PersistentVolume. */
export function setUpFailure(volumeName: string, why: string): VolumeFailure {
  return new VolumeFailure(`MountVolume.SetUp failed for volume "${volumeName}" : ${why}`);
}
