import { PodwrightError } from '@podwright/base';

/** Only one pod at a time may have it; with other modes beside it nobody knows which one a pod means. */
export function isOfOnePod({ accessModes = [] }: { accessModes?: readonly string[] }): boolean {
  return accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';
}

export function refuseSecondPod(): never {
  const why = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
  throw new PodwrightError('failed_precondition', why);
}
