import { PodwrightError } from '@podwright/base';

/**
 * Whether only one pod at a time may use the volume. False if the volume has other access modes as well, because it is then ambiguous which
 * of them applies.
 */
export function isOfOnePod({ accessModes = [] }: { accessModes?: readonly string[] }): boolean {
  return accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';
}

export function refuseSecondPod(): never {
  const why = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
  throw new PodwrightError('failed_precondition', why);
}
