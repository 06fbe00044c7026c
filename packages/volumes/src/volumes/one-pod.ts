import { PodwrightError } from '@podwright/base';

/**
 * Whether only one pod at a time may use the volume. If it also has other access modes, it is ambiguous which one applies, so the answer is
 * false.
 */
export function isOfOnePod({ accessModes = [] }: { accessModes?: readonly string[] }): boolean {
  return accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';
}

export function refuseSecondPod(): never {
  const why = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
  throw new PodwrightError('failed_precondition', why);
}
