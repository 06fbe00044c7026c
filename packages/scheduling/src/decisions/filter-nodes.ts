import type { Pod } from '@podwright/kube-api';
import { type NodeState, type Snapshot, withNode } from '../cluster/snapshot.ts';
import { FILTERS } from '../filters/all-filters.ts';
import type { NodeCheck, Rejection } from '../filters/filter.ts';

/** The nodes on which a pod can run, and why it cannot run on the others. */
export type FilteredNodes = {
  fitting: NodeState[];
  rejections: Map<string, Rejection>;
  /** The reason for rejecting the pod without examining any node; undefined if the nodes were examined. */
  refusal?: string;
};

/** By node name, the nominated pods to which the pod must yield: other pods have been preempted on that node in their favor. */
export type NominatedPods = ReadonlyMap<string, readonly Pod[]>;

/** Runs all filters on all nodes. Pure. */
export function filterNodes(pod: Pod, snapshot: Snapshot, nominated: NominatedPods): FilteredNodes {
  const checks = checksFor(pod, snapshot);
  const rejections = new Map<string, Rejection>();
  if (typeof checks === 'string') {
    for (const { name } of snapshot.nodes) rejections.set(name, { reasons: [checks], isFinal: true });
    return { fitting: [], rejections, refusal: checks };
  }
  const fitting = snapshot.nodes.filter((node) => {
    const rejection = rejectionWith(nominated, { pod, snapshot, node }) ?? firstRejection(checks, node);
    if (rejection !== undefined) rejections.set(node.name, rejection);
    return rejection === undefined;
  });
  return { fitting, rejections };
}

type Placement = { pod: Pod; snapshot: Snapshot; node: NodeState };

/**
 * Returns why the pod cannot run on a node, or `undefined` if it can run there both with the pods nominated for the node and without them:
 * nominated pods take precedence over the pod, but might never run on the node, so the pod must not depend on them (upstream's
 * RunFilterPluginsWithNominatedPods). `node` can differ from the node's state in the snapshot, and replaces it. Pure.
 */
export function rejectionBy(placement: Placement, nominated: NominatedPods): Rejection | undefined {
  return rejectionWith(nominated, placement) ?? rejectionOn(placement);
}

function rejectionWith(nominated: NominatedPods, { pod, snapshot, node }: Placement): Rejection | undefined {
  const added = nominated.get(node.name);
  return added && rejectionOn({ pod, snapshot, node: node.withPods([...node.pods, ...added]) });
}

function rejectionOn({ pod, snapshot, node }: Placement): Rejection | undefined {
  const checks = checksFor(pod, withNode(snapshot, node));
  return typeof checks === 'string' ? { reasons: [checks], isFinal: true } : firstRejection(checks, node);
}

function checksFor(pod: Pod, snapshot: Snapshot): NodeCheck[] | string {
  const checks: NodeCheck[] = [];
  for (const filter of FILTERS) {
    const check = filter(pod, snapshot);
    if (typeof check === 'function') checks.push(check);
    else if (check !== undefined) return check.refusal;
  }
  return checks;
}

function firstRejection(checks: readonly NodeCheck[], node: NodeState): Rejection | undefined {
  for (const check of checks) {
    const rejection = check(node);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}
