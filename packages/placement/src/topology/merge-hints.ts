/** Merges the hints for all resources into a single set of NUMA nodes. Pure; makes the same decisions as upstream's topology manager. */
import { countNodes, isNarrower, maskOf, type NodeMask, nodesOf } from './node-mask.ts';
import type { ResourceHints, TopologyHint } from './topology-hint.ts';

export type TopologyPolicy = 'best-effort' | 'restricted' | 'single-numa-node';

/** IDs of the host's NUMA nodes, possibly with gaps, and each node's distances to all of them, in the order of `nodes`. */
export type NumaNodes = { nodes: number[]; distances: ReadonlyMap<number, number[]> };

export type MergeOptions = { policy: TopologyPolicy; preferClosest: boolean; numa: NumaNodes };

type PlacedHint = { nodes: NodeMask; preferred: boolean };

/** Returns the NUMA nodes to use for the requested resources, and whether the policy admits the pod. */
export function mergeHints(
  providers: ResourceHints[],
  options: MergeOptions,
): { hint: TopologyHint; isAdmitted: boolean } {
  const lists = providers.flatMap(resourceLists);
  if (options.policy !== 'single-numa-node') {
    const hint = bestHint(lists, options);
    return { hint, isAdmitted: options.policy === 'best-effort' || hint.preferred };
  }
  const best = bestHint(lists.map(onSingleNodes), options);
  const all = maskOf(options.numa.nodes);
  return { hint: best.nodes === all ? { ...best, nodes: undefined } : best, isAdmitted: best.preferred };
}

/**
 * Returns one list of hints per resource. If a provider has no hints, any NUMA nodes will do. An empty list means that no NUMA nodes are
 * suitable for the resource.
 */
function resourceLists(hints: ResourceHints): TopologyHint[][] {
  const lists = Object.values(hints);
  if (lists.length === 0) return [[{ nodes: undefined, preferred: true }]];
  return lists.map((list) => {
    if (list === undefined) return [{ nodes: undefined, preferred: true }];
    return list.length === 0 ? [{ nodes: undefined, preferred: false }] : list;
  });
}

function onSingleNodes(hints: TopologyHint[]): TopologyHint[] {
  return hints.filter(({ nodes, preferred }) => preferred && (nodes === undefined || countNodes(nodes) === 1));
}

function bestHint(lists: TopologyHint[][], options: MergeOptions): PlacedHint {
  const all = maskOf(options.numa.nodes);
  const enough = Math.max(0, ...lists.map(narrowestCount));
  const merged = lists.reduce<PartialMerge[]>(combine, [{ nodes: all, preferred: true, isFree: true }]);
  const possible = merged.filter(({ nodes }) => nodes !== 0n);
  if (possible.length === 0) return { nodes: all, preferred: false };
  return possible.reduce<PlacedHint>(
    (best, candidate) => better(best, candidate, { ...options, enough }),
    possible[0]!,
  );
}

function narrowestCount(hints: TopologyHint[]): number {
  const counts = hints.flatMap(({ nodes }) => (nodes === undefined ? [] : [countNodes(nodes)]));
  return counts.length === 0 ? 0 : Math.min(...counts);
}

/** The merge of one hint each from the resource lists processed so far. `isFree`: none of these hints restricts the NUMA nodes. */
type PartialMerge = PlacedHint & { isFree: boolean };

/** Combines each partial merge with each hint of the next list. Dropping duplicates keeps the number of results bounded. */
function combine(merges: PartialMerge[], hints: TopologyHint[]): PartialMerge[] {
  const found = new Map<string, PartialMerge>();
  for (const merge of merges) {
    for (const hint of hints) {
      const merged = withHint(merge, hint);
      found.set(`${merged.nodes} ${merged.preferred} ${merged.isFree}`, merged);
    }
  }
  return [...found.values()];
}

/** Adds a hint to a partial merge. The result is preferred only if all its hints are preferred and name the same NUMA nodes. */
function withHint({ nodes, preferred, isFree }: PartialMerge, hint: TopologyHint): PartialMerge {
  if (hint.nodes === undefined) return { nodes, preferred: preferred && hint.preferred, isFree };
  const isSame = isFree || hint.nodes === nodes;
  return { nodes: nodes & hint.nodes, preferred: preferred && hint.preferred && isSame, isFree: false };
}

/**
 * Returns the better of two merges. If neither is preferred, it is the one whose number of NUMA nodes is closer to `enough` without
 * exceeding it.
 */
function better(best: PlacedHint, candidate: PlacedHint, options: MergeOptions & { enough: number }): PlacedHint {
  if (best.preferred !== candidate.preferred) return best.preferred ? best : candidate;
  if (best.preferred) return fitter(best, candidate, options);
  const [has, would, enough] = [countNodes(best.nodes), countNodes(candidate.nodes), options.enough];
  if (has > enough) return fitter(best, candidate, options);
  if (has === enough) return would === enough ? fitter(best, candidate, options) : best;
  if (would > enough || would < has) return best;
  return would === enough || would > has ? candidate : fitter(best, candidate, options);
}

function fitter(best: PlacedHint, candidate: PlacedHint, options: MergeOptions): PlacedHint {
  if (candidate.nodes === best.nodes) return best;
  const byDistance = options.preferClosest && options.policy !== 'single-numa-node';
  const isBest = byDistance
    ? isCloser(best.nodes, candidate.nodes, options.numa)
    : isNarrower(best.nodes, candidate.nodes);
  return isBest ? best : candidate;
}

function isCloser(mask: NodeMask, other: NodeMask, numa: NumaNodes): boolean {
  if (countNodes(mask) !== countNodes(other)) return isNarrower(mask, other);
  const difference = averageDistance(mask, numa) - averageDistance(other, numa);
  return difference === 0 ? mask < other : difference < 0;
}

function averageDistance(mask: NodeMask, { nodes, distances }: NumaNodes): number {
  const chosen = nodesOf(mask);
  const all = chosen.flatMap((from) => chosen.map((to) => distances.get(from)?.[nodes.indexOf(to)] ?? 0));
  return all.reduce((sum, distance) => sum + distance, 0) / all.length;
}
