import { join } from 'node:path';
import { quantityValue } from '@podwright/kube-api';
import type { Volume } from '../objects/storage.ts';
import { isDirectory } from './decide-directory.ts';

/** A claim of the directory provisioner, and the directory with its files. `capacityBytes` is absent if the claim was deleted. */
export type ProvisionedClaim = { namespace: string; name: string; path: string; capacityBytes?: bigint };

/**
 * Returns the claims of the volumes created by the directory provisioner in `directory`. If a claim has been deleted and its files were
 * retained, `name` includes the volume's name, because a new claim might have the same name.
 */
export function directoryClaims(volumes: readonly Volume[], directory: string): ProvisionedClaim[] {
  return volumes.filter(isDirectory).map(({ metadata, spec, status }) => {
    const { namespace = '', name = '' } = spec.claimRef ?? {};
    const claim = { namespace, path: join(directory, metadata.name) };
    if (status?.phase === 'Released') return { ...claim, name: `${name}, retained as ${metadata.name}` };
    return { ...claim, name, capacityBytes: quantityValue(spec.capacity?.storage ?? '0') };
  });
}
