import { ExpiredRevision, type ObjectStore, SlowWatcher } from '@podwright/api-machinery';
import { errorMessage, type Logger, pause } from '@podwright/base';
import { planAggregation } from './aggregation.ts';
import type { PolicyRule } from './authorizer.ts';
import { RBAC_GROUP, type Role } from './rbac-objects.ts';

export type AggregationParts = {
  store: ObjectStore;
  /** Updates a ClusterRole's rules through the registry. Rejects if the role has changed since it was read. */
  setRules: (name: string, rules: readonly PolicyRule[]) => Promise<void>;
  logger: Pick<Logger, 'warn'>;
};

const CLUSTER_ROLES = `clusterroles.${RBAC_GROUP}`;
const RETRY_MS = 1000;

/**
 * Keeps the rules of aggregated ClusterRoles up to date until the signal aborts. Rereads all ClusterRoles after each change to one of them;
 * a server has only a few hundred.
 */
export async function keepAggregated(parts: AggregationParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await followChanges(parts, signal);
    } catch (error) {
      if (error instanceof ExpiredRevision || error instanceof SlowWatcher) continue; // list again
      parts.logger.warn({ error: errorMessage(error) }, 'aggregate ClusterRoles failed, trying again');
      await pause(RETRY_MS, signal);
    }
  }
}

async function followChanges(parts: AggregationParts, signal: AbortSignal): Promise<void> {
  const from = await aggregate(parts);
  for await (const _ of parts.store.watch(CLUSTER_ROLES, { from, signal })) await aggregate(parts);
}

/** Updates all aggregated ClusterRoles whose rules are stale. Returns the revision at which they were read. */
async function aggregate({ store, setRules }: AggregationParts): Promise<number> {
  const { revision, objects } = store.list(CLUSTER_ROLES);
  for (const { name, rules } of planAggregation(objects.map((object) => object.decode() as Role)))
    await setRules(name, rules);
  return revision;
}
