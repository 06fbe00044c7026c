/** ResourceClaims of pods from an API server, and the DRA drivers that prepare them. */
import { join } from 'node:path';
import { Listeners } from '@podwright/base';
import type { ResourceClaim } from '@podwright/kube-api';
import { RESOURCE_CLAIMS } from '@podwright/kube-client';
import { DraClaims, DraDrivers, DraHealth, SliceWiper } from '@podwright/placement';
import type { ClusterOptions, KubeletOptions } from '../options.ts';

export type NodeClaims = {
  drivers: DraDrivers;
  claims: DraClaims;
  slices: SliceWiper;
  health: DraHealth;
  /** Fires when a DRA driver becomes callable, so that pods waiting for it can be synced. */
  driverUsable: Listeners;
  /** Fires with the UIDs of the affected pods when the health of their devices changes. */
  healthChanged: Listeners<[podUids: string[]]>;
};

type HealthListener = ConstructorParameters<typeof DraDrivers>[0]['onHealth'];

export type NodeClaimsInput = { options: KubeletOptions; cluster: ClusterOptions };

/** Opens this node's ResourceClaims. Rejects with `data_loss` if the record of prepared claims cannot be read. */
export async function openNodeClaims({ options, cluster }: NodeClaimsInput): Promise<NodeClaims> {
  const { rootDir, nodeName, logger, metrics } = options;
  const { client } = cluster;
  const slices = new SliceWiper({ client, nodeName, logger });
  const health = new DraHealth();
  const driverUsable = new Listeners();
  const healthChanged = new Listeners<[podUids: string[]]>();
  const healthReported = new Listeners<Parameters<HealthListener>>();
  const drivers = new DraDrivers({
    logger,
    onUsable: (driver, isUsable) => {
      slices.driverChanged(driver, isUsable);
      if (isUsable) driverUsable.publish();
    },
    onHealth: (...report) => healthReported.publish(...report),
  });
  const claims = await DraClaims.open({
    ...{ drivers, logger, metrics, path: join(rootDir, 'dra_manager_state') },
    claim: (key, signal) => client.get<ResourceClaim>(RESOURCE_CLAIMS, key, { signal }),
  });
  healthReported.subscribe((driver, devices) => {
    const changed = devices === undefined ? health.clear(driver) : health.update(driver, devices);
    const uids = changed.length === 0 ? [] : claims.podsWith(driver, changed);
    if (uids.length > 0) healthChanged.publish(uids);
  });
  return { drivers, claims, slices, health, driverUsable, healthChanged };
}
