import { ClaimLimits, type ClaimVolumes } from '@podwright/volumes';
import type { KubeletOptions } from '../options.ts';

export type NodeClaimLimitsInput = {
  options: Pick<KubeletOptions, 'cluster' | 'logger'>;
  /** The claims of applied manifests on a node without an API. They have no capacity, but may be among the largest claims. */
  claims: Pick<ClaimVolumes, 'list'>;
};

/** Creates the limits for all claims whose files are in directories of this node: those of manifests and those of the API. */
export function nodeClaimLimits({ options: { cluster, logger }, claims }: NodeClaimLimitsInput): ClaimLimits {
  const { list, isEnforced = false } = cluster?.claims ?? {};
  return new ClaimLimits({ list: async () => [...claims.list(), ...((await list?.()) ?? [])], isEnforced, logger });
}
