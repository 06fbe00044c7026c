import { PodwrightError } from '@podwright/base';

/** Why a volume cannot be used, as the whole message that people see. */
export class VolumeFailure extends PodwrightError {
  constructor(message: string) {
    super('failed_precondition', message);
  }
}

/** As upstream words a volume whose mount fails; of a claim it names the volume that the claim has. */
export function setUpFailure(volumeName: string, why: string): VolumeFailure {
  return new VolumeFailure(`MountVolume.SetUp failed for volume "${volumeName}" : ${why}`);
}
