/** Decides how the directory provisioner handles a volume and its claim. Pure. */
import { compareQuantities } from '@podwright/kube-api';
import type { Claim, Volume } from '../objects/storage.ts';

/** The provisioner of volumes that are directories on the node. */
export const DIRECTORY_PROVISIONER = 'podwright.dev/directory';
/** Finalizer of volumes whose directory is removed along with them: retains the volume until the directory is gone. */
export const DIRECTORY_FINALIZER = 'podwright.dev/directory';
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';

export type DirectoryStep = { finalizers?: string[]; isReclaimed: boolean };

/**
 * Whether this provisioner created the volume, judging by its annotation and name. The path is not considered, because clients might have
 * changed it.
 */
export function isDirectory({ metadata, spec }: Volume): boolean {
  return (
    metadata.annotations?.[PROVISIONED_BY] === DIRECTORY_PROVISIONER && metadata.name === `pvc-${spec.claimRef?.uid}`
  );
}

/**
 * What the directory provisioner does with a volume. `isReclaimed`: removes the directory and then the volume. `finalizers`: sets these
 * finalizers on a volume that stays.
 */
export function decideDirectory({ metadata, spec, status }: Volume): DirectoryStep {
  const { finalizers = [], deletionTimestamp } = metadata;
  const isDeleted = spec.persistentVolumeReclaimPolicy === 'Delete';
  if (isDeleted && status?.phase === 'Released') return { isReclaimed: true };
  const has = finalizers.includes(DIRECTORY_FINALIZER);
  if (has === isDeleted || (!has && deletionTimestamp !== undefined)) return { isReclaimed: false };
  const without = finalizers.filter((one) => one !== DIRECTORY_FINALIZER);
  return { isReclaimed: false, finalizers: isDeleted ? [...without, DIRECTORY_FINALIZER] : without };
}

/** Returns the size requested by a bound claim if it exceeds the current capacity. */
export function wantedSize({ metadata, spec, status }: Claim): string | undefined {
  const wanted = spec.resources?.requests?.storage;
  const present = status?.capacity?.storage;
  const isBound = status?.phase === 'Bound' && metadata.deletionTimestamp === undefined;
  if (!isBound || wanted === undefined || present === undefined) return undefined;
  return compareQuantities(wanted, present) > 0 ? wanted : undefined;
}
