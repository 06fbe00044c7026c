import { flagProblems, type PolicyFlags, readFlags } from './policy-flags.ts';

/** Policy options of the topology manager (`topologyManagerPolicyOptions`). */
export type TopologyPolicyOptions = {
  /** `prefer-closest-numa-nodes`: prefers NUMA nodes that are close to each other. */
  preferClosest: boolean;
  /** `max-allowable-numa-nodes`: the kubelet refuses to start on hosts with more NUMA nodes. Default: 8. */
  maxNodes: number;
};

/** Default of `max-allowable-numa-nodes`. With more NUMA nodes, there are too many subsets to try. */
const MAX_NODES = 8;
const MAX_NODES_OPTION = 'max-allowable-numa-nodes';
const FLAGS: PolicyFlags<'preferClosest'> = { 'prefer-closest-numa-nodes': { key: 'preferClosest' } };

export const NO_TOPOLOGY_OPTIONS: TopologyPolicyOptions = { preferClosest: false, maxNodes: MAX_NODES };

/** Parses already validated options. */
export function topologyOptions(options: Record<string, string>): TopologyPolicyOptions {
  const preferClosest = readFlags(options, FLAGS).has('preferClosest');
  return { preferClosest, maxNodes: Number(options[MAX_NODES_OPTION] ?? MAX_NODES) };
}

/** Validates the options and returns upstream's error messages. */
export function topologyOptionProblems(options: Record<string, string>): string[] {
  const { [MAX_NODES_OPTION]: nodes, ...others } = options;
  const isWell = nodes === undefined || (/^\d{1,3}$/.test(nodes) && Number(nodes) >= MAX_NODES);
  const own = isWell ? [] : [`${MAX_NODES_OPTION} must be a number that is at least ${MAX_NODES}`];
  return [...own, ...flagProblems(others, FLAGS, { gate: 'TopologyManagerPolicyAlphaOptions', isOn: true })];
}
