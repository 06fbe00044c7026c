import { type LabelSelector, matchesLabelSelector, type Pod, type PodAffinityTerm } from '@podwright/kube-api';
import type { NodeState, Snapshot } from '../cluster/snapshot.ts';
import { type Filter, final, removable } from './filter.ts';

/** Upstream's InterPodAffinity: the pod's required affinity and anti-affinity, and the anti-affinity of running pods. */
export const interPodAffinity: Filter = (pod, snapshot) => {
  const wanted = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const unwanted = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const barred = domainsOf(snapshot.nodes, (other) => termsAgainst(other, pod, snapshot));
  if (wanted.length + unwanted.length + barred.size === 0) return undefined;
  const isMatch = (term: PodAffinityTerm, other: Pod) => matchesTerm({ term, owner: pod }, other, snapshot);
  const attracting = domainsOf(snapshot.nodes, (other) => (wanted.every((term) => isMatch(term, other)) ? wanted : []));
  const repelling = domainsOf(snapshot.nodes, (other) => unwanted.filter((term) => isMatch(term, other)));
  const isFirst = attracting.size === 0 && wanted.every((term) => isMatch(term, pod));
  return ({ labels }) => {
    const isIn = (domains: ReadonlySet<string>, key: string) => domains.has(domainKey(key, labels[key]));
    const hasLabels = wanted.every(({ topologyKey }) => Object.hasOwn(labels, topologyKey));
    if (!hasLabels || !(isFirst || wanted.every(({ topologyKey }) => isIn(attracting, topologyKey))))
      return final("node(s) didn't match pod affinity rules");
    if (unwanted.some(({ topologyKey }) => isIn(repelling, topologyKey)))
      return removable("node(s) didn't match pod anti-affinity rules");
    if (Object.keys(labels).some((key) => isIn(barred, key)))
      return removable("node(s) didn't satisfy existing pods anti-affinity rules");
    return undefined;
  };
};

/** Returns the topology domains that contain a pod for which `termsOf` returns a term with that topology key. */
function domainsOf(nodes: readonly NodeState[], termsOf: (pod: Pod) => readonly PodAffinityTerm[]): Set<string> {
  const domains = new Set<string>();
  for (const { labels, pods } of nodes) {
    for (const { topologyKey } of pods.flatMap(termsOf))
      if (Object.hasOwn(labels, topologyKey)) domains.add(domainKey(topologyKey, labels[topologyKey]));
  }
  return domains;
}

const domainKey = (key: string, value: string | undefined): string => `${key}=${value}`;

/** Returns the required anti-affinity terms of `owner`, a running pod, that apply to `pod`. */
function termsAgainst(owner: Pod, pod: Pod, snapshot: Snapshot): PodAffinityTerm[] {
  const terms = owner.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.filter((term) => matchesTerm({ term, owner }, pod, snapshot));
}

/** Whether a term of `owner` selects the pod, by namespace and labels. */
export function matchesTerm(
  { term, owner }: { term: PodAffinityTerm; owner: Pod },
  { metadata }: Pod,
  snapshot: Pick<Snapshot, 'namespaceLabels'>,
): boolean {
  const { namespaces = [], namespaceSelector } = term;
  const isOwn =
    namespaces.length === 0 && namespaceSelector === undefined && metadata.namespace === owner.metadata.namespace;
  const isSelected =
    namespaceSelector !== undefined &&
    matchesLabelSelector(namespaceSelector, snapshot.namespaceLabels(metadata.namespace) ?? {});
  if (!isOwn && !namespaces.includes(metadata.namespace) && !isSelected) return false;
  return matchesLabelSelector(selectorOf(term, owner), metadata.labels);
}

/**
 * Returns a term's selector, including `matchLabelKeys` and `mismatchLabelKeys`. The API server already adds these to the selector when a
 * pod is created; adding them again changes nothing.
 */
function selectorOf(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: PodAffinityTerm,
  owner: Pod,
): LabelSelector | undefined {
  if (labelSelector === undefined) return undefined;
  const added = (keys: readonly string[], operator: 'In' | 'NotIn') =>
    keys.flatMap((key) => {
      const value = owner.metadata.labels?.[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const { matchExpressions = [] } = labelSelector;
  return {
    ...labelSelector,
    matchExpressions: [...matchExpressions, ...added(matchLabelKeys, 'In'), ...added(mismatchLabelKeys, 'NotIn')],
  };
}
