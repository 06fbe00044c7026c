/** Decides which pods of older revisions a DaemonSet replaces now (rollingUpdate in upstream's update.go). */
import type { Pod } from '@podwright/kube-api';
import { isUpdated } from './daemon-pod.ts';
import { type DaemonSetView, isAvailablePod, isLeaving } from './daemon-set-state.ts';

export type UpdateDecision = {
  /** Names of the nodes on which to create a second pod, the replacement of the old one. */
  create: string[];
  delete: Pod[];
};

export function decideUpdate(view: DaemonSetView): UpdateDecision {
  if (view.set.spec.updateStrategy?.type === 'OnDelete') return { create: [], delete: [] };
  const nodes = nodesOf(view);
  return view.maxSurge === 0 ? { create: [], delete: withoutSurge(view, nodes) } : withSurge(view, nodes);
}

type NodePods = {
  nodeName: string;
  newPod?: Pod;
  oldPod?: Pod /** Several pods of a kind: they are deleted elsewhere. */;
  isExcess: boolean;
};

/** Returns the nodes that have a pod or should have one, each with its old and new pod. */
function nodesOf({ byNode, fits, set, hash }: DaemonSetView): NodePods[] {
  const wanted = [...fits].filter(([, { shouldRun }]) => shouldRun).map(([nodeName]) => nodeName);
  const names = new Set([...byNode.keys(), ...wanted]);
  return [...names].map((nodeName) => {
    const pods = (byNode.get(nodeName) ?? []).filter((pod) => !isLeaving(pod));
    const newPods = pods.filter((pod) => isUpdated(set, hash, pod));
    const oldPods = pods.filter((pod) => !newPods.includes(pod));
    const isExcess = newPods.length > 1 || oldPods.length > 1;
    return { nodeName, isExcess, ...(isExcess ? {} : { newPod: newPods[0], oldPod: oldPods[0] }) };
  });
}

/**
 * Returns the old pods to delete: unavailable ones, and available ones as long as at most `maxUnavailable` nodes lack an available pod. The
 * new pods are created by a later sync.
 */
function withoutSurge(view: DaemonSetView, nodes: readonly NodePods[]): Pod[] {
  const replaceable: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const { newPod, oldPod, isExcess } of nodes) {
    if (isExcess || (newPod === undefined) === (oldPod === undefined)) unavailable++;
    else if (newPod !== undefined) unavailable += isAvailablePod(view, newPod) ? 0 : 1;
    else if (isAvailablePod(view, oldPod!)) candidates.push(oldPod!);
    else {
      replaceable.push(oldPod!);
      unavailable++;
    }
  }
  return [...replaceable, ...candidates.slice(0, Math.max(0, view.maxUnavailable - unavailable))];
}

/**
 * Returns which pods to create and delete: creates up to `maxSurge` new pods next to available old ones, and deletes old pods whose new
 * ones are available.
 */
function withSurge(view: DaemonSetView, nodes: readonly NodePods[]): UpdateDecision {
  const deleted: Pod[] = [];
  const misplaced: Pod[] = [];
  const replaced: string[] = [];
  const candidates: string[] = [];
  let surge = 0;
  let available = 0;
  for (const { nodeName, newPod, oldPod, isExcess } of nodes) {
    const present = oldPod ?? newPod;
    if (present !== undefined && isAvailablePod(view, present)) available++;
    const shouldRun = view.fits.get(nodeName)?.shouldRun === true;
    if (isExcess) surge++;
    else if (oldPod === undefined) continue;
    else if (newPod !== undefined) {
      if (isAvailablePod(view, newPod)) deleted.push(oldPod);
      else surge++;
    } else if (isAvailablePod(view, oldPod)) {
      if (shouldRun) candidates.push(nodeName);
      else misplaced.push(oldPod);
    } else if (shouldRun) replaced.push(nodeName);
    else deleted.push(oldPod);
  }
  const removable = misplaced.slice(0, Math.max(0, available - view.desired));
  const surging = candidates.slice(0, Math.max(0, view.maxSurge - surge));
  return { create: [...replaced, ...surging], delete: [...deleted, ...removable] };
}
