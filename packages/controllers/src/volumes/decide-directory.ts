/** What the provisioner of directories does with a volume and its claim. Pure. */
import { compareQuantities } from '@podwright/kube-api';
import type { Claim, Volume } from '../objects/storage.ts';

/** The provisioner of volumes that are directories of the node. */
export const DIRECTORY_PROVISIONER = 'podwright.dev/directory';
/** Keeps a volume whose directory is removed with it until that has happened, also if a client deletes the volume first. */
export const DIRECTORY_FINALIZER = 'podwright.dev/directory';
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';

export type DirectoryStep = { finalizers?: string[]; isReclaimed: boolean };

/** Whether the volume is a directory that this provisioner has made. Clients may have changed its path, which is not used. */
export function isDirectory({ metadata, spec }: Volume): boolean {
  return (
    metadata.annotations?.[PROVISIONED_BY] === DIRECTORY_PROVISIONER && metadata.name === `pvc-${spec.claimRef?.uid}`
  );
}

/** Returns whether the directory and the volume are removed now, and the finalizers of a volume that stays, if they change. */
export function decideDirectory({ metadata, spec, status }: Volume): DirectoryStep {
  const { finalizers = [], deletionTimestamp } = metadata;
  const isDeleted = spec.persistentVolumeReclaimPolicy === 'Delete';
  if (isDeleted && status?.phase === 'Released') return { isReclaimed: true };
  const has = finalizers.includes(DIRECTORY_FINALIZER);
  if (has === isDeleted || (!has && deletionTimestamp !== undefined)) return { isReclaimed: false };
  const without = finalizers.filter((one) => one !== DIRECTORY_FINALIZER);
  return { isReclaimed: false, finalizers: isDeleted ? [...without, DIRECTORY_FINALIZER] : without };
}

/** Returns the size that a bound claim asks for, if it is more than it has. */
export function wantedSize({ metadata, spec, status }: Claim): string | undefined {
  const wanted = spec.resources?.requests?.storage;
  const present = status?.capacity?.storage;
  const isBound = status?.phase === 'Bound' && metadata.deletionTimestamp === undefined;
  if (!isBound || wanted === undefined || present === undefined) return undefined;
  return compareQuantities(wanted, present) > 0 ? wanted : undefined;
}
