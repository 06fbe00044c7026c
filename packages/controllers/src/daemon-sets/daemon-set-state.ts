/** A snapshot of a DaemonSet's pods by node, on which decisions are based. */
import type { Node, Pod } from '@podwright/kube-api';
import type { DaemonSet } from '../objects/daemon-set.ts';
import { isAvailable, isEnded } from '../pods/pod-state.ts';
import { scaledValue } from '../pods/scaled-value.ts';
import { targetNode } from './daemon-pod.ts';
import { type NodeFit, nodeFit } from './node-fit.ts';

export type DaemonSetState = {
  set: DaemonSet;
  nodes: readonly Node[];
  pods: readonly Pod[];
  /** The revision hash of the DaemonSet's template. */
  hash: string;
  nowMs: number;
};

export type DaemonSetView = DaemonSetState & {
  /** The set's pods by node, except pods in a terminal phase that are already being deleted. */
  byNode: ReadonlyMap<string, Pod[]>;
  fits: ReadonlyMap<string, NodeFit>;
  /** Number of nodes that should run a pod of the DaemonSet. */
  desired: number;
  maxSurge: number;
  maxUnavailable: number;
};

export function viewOf(state: DaemonSetState): DaemonSetView {
  const { set, nodes, pods } = state;
  const placed = pods.filter((pod) => !(isEnded(pod) && isLeaving(pod)) && targetNode(pod) !== undefined);
  const fits = new Map(nodes.map((node) => [node.metadata.name!, nodeFit(set.spec.template.spec, node)]));
  const desired = [...fits.values()].filter(({ shouldRun }) => shouldRun).length;
  return { ...state, byNode: Map.groupBy(placed, (pod) => targetNode(pod)!), fits, desired, ...limitsOf(set, desired) };
}

/** Whether the set may have two pods on a node during an update. */
export function allowsSurge(set: DaemonSet): boolean {
  return limitsOf(set, 1).maxSurge > 0;
}

function limitsOf({ spec }: DaemonSet, desired: number): { maxSurge: number; maxUnavailable: number } {
  const { type = 'RollingUpdate', rollingUpdate } = spec.updateStrategy ?? {};
  if (type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 1 } = rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, desired, Math.ceil);
  const unavailable = scaledValue(maxUnavailable, desired, Math.ceil);
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isAvailablePod({ set, nowMs }: DaemonSetState, pod: Pod): boolean {
  return isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
}

/** Sorts pods that are assigned to a node first, then by creation time, then by name. */
export function oldestFirst(pods: readonly Pod[]): Pod[] {
  const isAssigned = ({ spec }: Pod) => (spec.nodeName ?? '') !== '';
  const timeOf = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return pods.toSorted(
    (a, b) =>
      Number(isAssigned(b)) - Number(isAssigned(a)) ||
      timeOf(a) - timeOf(b) ||
      (a.metadata.name < b.metadata.name ? -1 : 1),
  );
}
