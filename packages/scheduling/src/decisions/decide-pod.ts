import { type Pod, podPriority } from '@podwright/kube-api';
import { nominatedNode } from '../cluster/nominated-node.ts';
import type { Snapshot } from '../cluster/snapshot.ts';
import { totalScores } from '../scores/all-scores.ts';
import { filterNodes, type NominatedPods } from './filter-nodes.ts';
import { fitMessage, NO_NODES } from './fit-message.ts';
import { findPreemption, type Preemption } from './preemption.ts';

/**
 * `assign`: bind the pod to the node. `wait`: no node fits now; `preemption` lists pods to remove in order to make room, and
 * `clearsNomination` means that the pod's nominated node no longer helps it, so the nomination must be cleared.
 */
export type Decision =
  | { kind: 'assign'; node: string }
  | { kind: 'wait'; message: string; preemption?: Preemption; clearsNomination: boolean };

/** A pod that is waiting for the pods it preempted on a node to terminate. */
export type Nominated = { pod: Pod; node: string };

/** Decides where a pod runs. `nominated`: other pods that are waiting for the pods they preempted to terminate. Pure. */
export function decidePod(pod: Pod, snapshot: Snapshot, nominated: readonly Nominated[]): Decision {
  if (snapshot.nodes.length === 0) return { kind: 'wait', message: NO_NODES, clearsNomination: false };
  const important = nominatedBefore(pod, nominated);
  const { fitting, rejections, refusal } = filterNodes(pod, snapshot, important);
  const wanted = fitting.find(({ name }) => name === nominatedNode(pod));
  if (wanted !== undefined) return { kind: 'assign', node: wanted.name };
  if (fitting.length === 1) return { kind: 'assign', node: fitting[0]!.name };
  if (fitting.length > 0) return { kind: 'assign', node: best(totalScores(pod, fitting, snapshot)) };
  const found = findPreemption(pod, snapshot, { rejections, nominated: important });
  const preempts = 'node' in found;
  const preemption = preempts ? undefined : `preemption: ${found.message}`;
  const nodeCount = snapshot.nodes.length;
  return {
    kind: 'wait',
    message: fitMessage({ nodeCount, rejections: rejections.values(), refusal, preemption }),
    preemption: preempts ? found : undefined,
    clearsNomination: !preempts && !found.message.startsWith('not eligible'),
  };
}

/** Returns the other nominated pods with at least the priority of `pod`, by node. */
function nominatedBefore(pod: Pod, nominated: readonly Nominated[]): NominatedPods {
  const others = nominated.filter(
    (other) => other.pod.metadata.uid !== pod.metadata.uid && podPriority(other.pod) >= podPriority(pod),
  );
  const byNode = Map.groupBy(others, ({ node }) => node);
  return new Map([...byNode].map(([node, list]) => [node, list.map((other) => other.pod)]));
}

function best(scores: ReadonlyMap<string, number>): string {
  const most = Math.max(...scores.values());
  return [...scores].find(([, score]) => score === most)![0];
}
