import {
  type LabelSelector,
  matchesLabelSelector,
  type Pod,
  type TopologySpreadConstraint,
  wantsNode,
} from '@podwright/kube-api';
import type { NodeState } from '../cluster/snapshot.ts';
import { type Filter, final, removable } from './filter.ts';
import { hasUntolerated } from './node-filters.ts';

const NO_MATCH = "node(s) didn't match pod topology spread constraints";

/** Upstream's PodTopologySpread: no domain may exceed the number of matching pods in the emptiest domain by more than `maxSkew`. */
export const podTopologySpread: Filter = (pod, { nodes }) => {
  const constraints = (pod.spec.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
    .map((constraint) => ({ ...constraint, labelSelector: selectorOf(constraint, pod) }));
  if (constraints.length === 0) return undefined;
  const eligible = nodes.filter(({ labels }) =>
    constraints.every(({ topologyKey }) => Object.hasOwn(labels, topologyKey)),
  );
  const counts = constraints.map((constraint) => domainCounts(constraint, pod, eligible));
  return ({ labels }) => {
    for (const [index, constraint] of constraints.entries()) {
      const domain = labels[constraint.topologyKey];
      if (domain === undefined) return final(`${NO_MATCH} (missing required label)`);
      const own = matchesLabelSelector(constraint.labelSelector, pod.metadata.labels) ? 1 : 0;
      const skew = (counts[index]!.get(domain) ?? 0) + own - leastCount(constraint, counts[index]!);
      if (skew > constraint.maxSkew) return removable(NO_MATCH);
    }
    return undefined;
  };
};

/** Returns the number of matching pods in each domain of a constraint. */
export function domainCounts(
  constraint: TopologySpreadConstraint,
  pod: Pod,
  nodes: readonly NodeState[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const node of nodes.filter((one) => isIncluded(constraint, pod, one))) {
    const domain = node.labels[constraint.topologyKey]!;
    const matching = node.pods.filter((other) => isCounted(other, constraint.labelSelector, pod));
    counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
  }
  return counts;
}

/** Returns the number of matching pods in the emptiest domain; 0 if there are fewer domains than `minDomains`. */
function leastCount({ minDomains = 1 }: TopologySpreadConstraint, counts: ReadonlyMap<string, number>): number {
  return counts.size < minDomains ? 0 : Math.min(...counts.values());
}

function isIncluded(
  { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' }: TopologySpreadConstraint,
  pod: Pod,
  state: NodeState,
): boolean {
  if (nodeAffinityPolicy === 'Honor' && !wantsNode(pod, state)) return false;
  return nodeTaintsPolicy !== 'Honor' || !hasUntolerated(pod, state.taints);
}

function isCounted({ metadata }: Pod, selector: LabelSelector | undefined, { metadata: { namespace } }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined || metadata.namespace !== namespace || isEmpty(selector)) return false;
  return matchesLabelSelector(selector, metadata.labels);
}

const isEmpty = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;

/** Returns the selector, extended with the pod's own values for `matchLabelKeys`. */
export function selectorOf(
  { labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint,
  { metadata }: Pod,
): LabelSelector | undefined {
  if (labelSelector === undefined) return undefined;
  const own = matchLabelKeys.flatMap((key) => {
    const value = metadata.labels?.[key];
    return value === undefined ? [] : [{ key, operator: 'In' as const, values: [value] }];
  });
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...own] };
}
