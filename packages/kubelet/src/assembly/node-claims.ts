/** ResourceClaims of pods of an API server, and the drivers that prepare them. */
import { join } from 'node:path';
import { RESOURCE_CLAIMS } from '@podwright/kube-client';
import type { ResourceClaim } from '../api/resource-claim.ts';
import { DraClaims } from '../dra/dra-claims.ts';
import { DraDrivers } from '../dra/dra-drivers.ts';
import { SliceWiper } from '../dra/wipe-slices.ts';
import type { ClusterOptions, KubeletOptions } from '../options.ts';

export type NodeClaims = { drivers: DraDrivers; claims: DraClaims; slices: SliceWiper };

/** Rejects with `data_loss` where it cannot be known what drivers have prepared. */
export async function openNodeClaims(options: KubeletOptions, { client }: ClusterOptions): Promise<NodeClaims> {
  const { rootDir, nodeName, logger } = options;
  const slices = new SliceWiper({ client, nodeName, logger });
  const drivers = new DraDrivers((driver, isThere) => slices.driverChanged(driver, isThere));
  const claims = await DraClaims.open({
    ...{ drivers, logger, path: join(rootDir, 'dra_manager_state') },
    claim: (place, signal) => client.get<ResourceClaim>(RESOURCE_CLAIMS, place, { signal }),
  });
  return { drivers, claims, slices };
}
