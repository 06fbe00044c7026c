import { type Pod, podPriority } from '@podwright/kube-api';
import { nominatedNode } from '../cluster/nominated-node.ts';
import { type Snapshot, withNode } from '../cluster/snapshot.ts';
import { totalScores } from '../scores/all-scores.ts';
import { filterNodes } from './filter-nodes.ts';
import { fitMessage, NO_NODES } from './fit-message.ts';
import { findPreemption, type Preemption } from './preemption.ts';

/**
 * `assign`: the pod runs on the node. `wait`: it fits no node now. `preemption` makes room for it; `isHopeless`: the node that was nominated
 * for it is of no use any longer.
 */
export type Decision =
  | { kind: 'assign'; node: string }
  | { kind: 'wait'; message: string; preemption?: Preemption; clearsNomination: boolean };

/** A pod for which room is being made on a node. */
export type Nominated = { pod: Pod; node: string };

/** Decides where a pod runs. `nominated` are other pods that wait for the end of the pods that they preempted. Pure. */
export function decidePod(pod: Pod, given: Snapshot, nominated: readonly Nominated[]): Decision {
  if (given.nodes.length === 0) return { kind: 'wait', message: NO_NODES, clearsNomination: false };
  const snapshot = withNominated(pod, given, nominated);
  const { fitting, rejections, refusal } = filterNodes(pod, snapshot);
  const wanted = fitting.find(({ name }) => name === nominatedNode(pod));
  if (wanted !== undefined) return { kind: 'assign', node: wanted.name };
  if (fitting.length === 1) return { kind: 'assign', node: fitting[0]!.name };
  if (fitting.length > 0) return { kind: 'assign', node: best(totalScores(pod, fitting, snapshot)) };
  const found = findPreemption(pod, snapshot, rejections);
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

/** Counts pods that were nominated for a node, if they are at least as important, as if they ran there already. */
function withNominated(pod: Pod, snapshot: Snapshot, nominated: readonly Nominated[]): Snapshot {
  const others = nominated.filter(
    (other) => other.pod.metadata.uid !== pod.metadata.uid && podPriority(other.pod) >= podPriority(pod),
  );
  return snapshot.nodes.reduce((changed, node) => {
    const added = others.filter((other) => other.node === node.name).map((other) => other.pod);
    return added.length === 0 ? changed : withNode(changed, node.withPods([...node.pods, ...added]));
  }, snapshot);
}

/** The node with the highest score; the first of several. */
function best(scores: ReadonlyMap<string, number>): string {
  const most = Math.max(...scores.values());
  return [...scores].find(([, score]) => score === most)![0];
}
