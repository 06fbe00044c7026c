import { join } from 'node:path';
import { quantityValue } from '@podwright/kube-api';
import type { Volume } from '../objects/storage.ts';
import { isDirectory } from './decide-directory.ts';

/** A claim of the directory provisioner, the directory with its files, and the size that it may have. */
export type ProvisionedClaim = { namespace: string; name: string; path: string; capacityBytes?: bigint };

/**
 * Returns the claims of the volumes that the directory provisioner has made in `directory`. The name of a claim that was deleted, but whose
 * files are retained, gets the name of its volume, because a new claim may have the same name.
 */
export function directoryClaims(volumes: readonly Volume[], directory: string): ProvisionedClaim[] {
  return volumes.filter(isDirectory).map(({ metadata, spec, status }) => {
    const { namespace = '', name = '' } = spec.claimRef ?? {};
    const claim = { namespace, path: join(directory, metadata.name) };
    if (status?.phase === 'Released') return { ...claim, name: `${name}, retained as ${metadata.name}` };
    return { ...claim, name, capacityBytes: quantityValue(spec.capacity?.storage ?? '0') };
  });
}
