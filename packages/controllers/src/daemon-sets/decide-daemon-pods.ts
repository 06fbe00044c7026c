/** Decides which pods a DaemonSet creates and deletes so that each node has the right one (manage in upstream's daemon_controller.go). */
import type { EventType, Pod } from '@podwright/kube-api';
import { isReady } from '../pods/pod-state.ts';
import { isUpdated } from './daemon-pod.ts';
import { allowsSurge, type DaemonSetView, isAvailablePod, isLeaving, oldestFirst } from './daemon-set-state.ts';

export type DaemonEvent = readonly [type: EventType, reason: string, message: string];

export type DaemonDecision = {
  /** Names of the nodes on which to create a pod. */
  create: string[];
  delete: Pod[];
  events: DaemonEvent[];
  /** Nodes whose failed pods are deleted. The next failed pod there is deleted after a longer delay. */
  failedOn: string[];
  /** Time until a failed pod can be deleted, in milliseconds; absent if no deletion is delayed. */
  againInMs?: number;
};

/** Decides which pods to create and delete. `waitMs` returns the time until a node's next failed pod may be deleted, in milliseconds. */
export function decideDaemonPods(view: DaemonSetView, waitMs: (nodeName: string) => number): DaemonDecision {
  const decision: DaemonDecision = { create: [], delete: [], events: [], failedOn: [] };
  for (const [nodeName, { shouldRun, mayStay }] of view.fits) {
    const pods = view.byNode.get(nodeName);
    if (shouldRun && pods === undefined) decision.create.push(nodeName);
    else if (mayStay) decideNode(view, { nodeName, pods: pods ?? [], shouldRun, waitMs: waitMs(nodeName) }, decision);
    else decision.delete.push(...(pods ?? []).filter((pod) => !isLeaving(pod)));
  }
  for (const [nodeName, pods] of view.byNode) {
    if (view.fits.has(nodeName)) continue;
    decision.delete.push(...pods.filter((pod) => (pod.spec.nodeName ?? '') === '' && !isLeaving(pod))); // no node will run them
  }
  return decision;
}

type NodePods = { nodeName: string; pods: readonly Pod[]; shouldRun: boolean; waitMs: number };

/** Decides which pods to create and delete on a node where the set's existing pods may remain. */
function decideNode(view: DaemonSetView, { nodeName, pods, shouldRun, waitMs }: NodePods, decision: DaemonDecision) {
  const running: Pod[] = [];
  let isDelayed = false;
  for (const pod of pods.filter((one) => !isLeaving(one))) {
    const { phase } = pod.status ?? {};
    const place = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${nodeName}`;
    if (phase !== 'Failed' && phase !== 'Succeeded') running.push(pod);
    else if (phase === 'Failed' && waitMs > 0) {
      isDelayed = true;
      decision.againInMs = Math.min(waitMs, decision.againInMs ?? waitMs);
    } else {
      decision.delete.push(pod);
      if (phase === 'Failed') {
        decision.failedOn.push(nodeName);
        decision.events.push(['Warning', 'FailedDaemonPod', `Found failed ${place}, will try to kill it`]);
      } else decision.events.push(['Normal', 'SucceededDaemonPod', `Found succeeded ${place}, will try to delete it`]);
    }
  }
  if (!allowsSurge(view.set)) decision.delete.push(...oldestFirst(running).slice(1));
  else if (running.length > 1) decision.delete.push(...surplusOfSurge(view, running));
  else if (running.length === 0 && shouldRun && !isDelayed) decision.create.push(nodeName); // upstream does not wait here
}

/**
 * Returns the surplus pods of a node with surge, which may have an old and a new pod until the new one is available or the old one is
 * unready.
 */
function surplusOfSurge(view: DaemonSetView, running: readonly Pod[]): Pod[] {
  const ordered = oldestFirst(running);
  const newPods = ordered.filter((pod) => isUpdated(view.set, view.hash, pod));
  const oldPods = ordered.filter((pod) => !newPods.includes(pod));
  const surplus = [...newPods.slice(1), ...oldPods.slice(1)];
  const [newPod] = newPods;
  const [oldPod] = oldPods;
  const isReplaced = newPod !== undefined && oldPod !== undefined && (!isReady(oldPod) || isAvailablePod(view, newPod));
  return isReplaced ? [...surplus, oldPod] : surplus;
}
