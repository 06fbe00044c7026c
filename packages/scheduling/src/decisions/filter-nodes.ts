import type { Pod } from '@podwright/kube-api';
import type { NodeState, Snapshot } from '../cluster/snapshot.ts';
import { FILTERS } from '../filters/all-filters.ts';
import type { NodeCheck, Rejection } from '../filters/filter.ts';

/** The nodes on which a pod can run, and why it cannot run on the others. */
export type FilteredNodes = {
  fitting: NodeState[];
  rejections: Map<string, Rejection>;
  /** Why no node was examined. */
  refusal?: string;
};

/** Runs all filters. Pure. */
export function filterNodes(pod: Pod, snapshot: Snapshot): FilteredNodes {
  const checks = checksFor(pod, snapshot);
  const rejections = new Map<string, Rejection>();
  if (typeof checks === 'string') {
    for (const { name } of snapshot.nodes) rejections.set(name, { reasons: [checks], isFinal: true });
    return { fitting: [], rejections, refusal: checks };
  }
  const fitting = snapshot.nodes.filter((node) => {
    const rejection = firstRejection(checks, node);
    if (rejection !== undefined) rejections.set(node.name, rejection);
    return rejection === undefined;
  });
  return { fitting, rejections };
}

/** Returns why the pod cannot run on a node of the snapshot, or `undefined` if it can. Pure. */
export function rejectionBy(pod: Pod, snapshot: Snapshot, node: NodeState): Rejection | undefined {
  const checks = checksFor(pod, snapshot);
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
