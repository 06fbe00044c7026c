/** ResourceClaims of pods of an API server, and the drivers that prepare them. */
import { join } from 'node:path';
import type { ResourceClaim } from '@podwright/kube-api';
import { RESOURCE_CLAIMS } from '@podwright/kube-client';
import { DraClaims, DraDrivers, DraHealth, SliceWiper } from '@podwright/placement';
import type { ClusterOptions, KubeletOptions } from '../options.ts';

export type NodeClaims = { drivers: DraDrivers; claims: DraClaims; slices: SliceWiper; health: DraHealth };

export type NodeClaimsInput = {
  options: KubeletOptions;
  cluster: ClusterOptions;
  /** Pods may have what they waited for. */
  onDriver: () => void;
  /** It is to be shown anew how the devices of these pods are. */
  onHealth: (podUids: string[]) => void;
};

/** Rejects with `data_loss` where it cannot be known what drivers have prepared. */
export async function openNodeClaims(input: NodeClaimsInput): Promise<NodeClaims> {
  const { rootDir, nodeName, logger, metrics } = input.options;
  const { client } = input.cluster;
  const slices = new SliceWiper({ client, nodeName, logger });
  const health = new DraHealth();
  const drivers: DraDrivers = new DraDrivers({
    logger,
    onUsable: (driver, isUsable) => {
      slices.driverChanged(driver, isUsable);
      if (isUsable) input.onDriver();
    },
    onHealth: (driver, devices) => {
      const changed = devices === undefined ? health.clear(driver) : health.update(driver, devices);
      const uids = changed.length === 0 ? [] : claims.podsWith(driver, changed);
      if (uids.length > 0) input.onHealth(uids);
    },
  });
  const claims = await DraClaims.open({
    ...{ drivers, logger, metrics, path: join(rootDir, 'dra_manager_state') },
    claim: (place, signal) => client.get<ResourceClaim>(RESOURCE_CLAIMS, place, { signal }),
  });
  return { drivers, claims, slices, health };
}
