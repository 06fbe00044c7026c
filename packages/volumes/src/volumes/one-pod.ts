import { PodwrightError } from '@podwright/base';

/**
 * Whether the volume may only be used by one pod at a time. False if it has other access modes as well, since it is then ambiguous which
 * one applies.
 */
export function isOfOnePod({ accessModes = [] }: { accessModes?: readonly string[] }): boolean {
  return accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';
}

export function refuseSecondPod(): never {
  const why = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
  throw new PodwrightError('failed_precondition', why);
}
