import { ClaimLimits, type ClaimVolumes } from '@podwright/volumes';
import type { KubeletOptions } from '../options.ts';

export type NodeClaimLimitsInput = {
  options: Pick<KubeletOptions, 'cluster' | 'logger'>;
  /** The claims of manifests, which have no capacity. */
  claims: Pick<ClaimVolumes, 'list'>;
};

/** Creates the limits of claims whose files are in directories of this node. */
export function nodeClaimLimits({ options: { cluster, logger }, claims }: NodeClaimLimitsInput): ClaimLimits {
  const { list, isEnforced = false } = cluster?.claims ?? {};
  return new ClaimLimits({ list: async () => [...claims.list(), ...((await list?.()) ?? [])], isEnforced, logger });
}
