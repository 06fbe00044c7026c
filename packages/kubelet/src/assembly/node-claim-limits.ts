import { ClaimLimits, type ClaimVolumes } from '@podwright/volumes';
import type { KubeletOptions } from '../options.ts';

export type NodeClaimLimitsInput = {
  options: Pick<KubeletOptions, 'cluster' | 'logger'>;
  /**
   * The claims from applied manifests on a node without an API server. Their capacity is not enforced, but they are considered when looking
   * for the largest claims.
   */
  claims: Pick<ClaimVolumes, 'list'>;
};

/** Creates the limits for all claims stored in directories on this node, both from manifests and from the API server. */
export function nodeClaimLimits({ options: { cluster, logger }, claims }: NodeClaimLimitsInput): ClaimLimits {
  const { list, isEnforced = false } = cluster?.claims ?? {};
  return new ClaimLimits({ list: async () => [...claims.list(), ...((await list?.()) ?? [])], isEnforced, logger });
}
