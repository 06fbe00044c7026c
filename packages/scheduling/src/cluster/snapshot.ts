import type { Node, Pod, Taint } from '@podwright/kube-api';
import { taintsOf } from './node-taints.ts';
import type { Budget, Claim, PersistentVolume, StorageClass } from './objects.ts';
import { type Amounts, allocatableOf, requestsOf, sumOf } from './resource-amounts.ts';

/** Caches pods' resource requests, so that they are computed only once per pod. */
export class KnownRequests {
  readonly #amounts = new WeakMap<Pod, Amounts>();

  of(pod: Pod): Amounts {
    const known = this.#amounts.get(pod) ?? requestsOf(pod);
    this.#amounts.set(pod, known);
    return known;
  }
}

/** A node and the pods assigned to it that are not in a terminal phase. */
export class NodeState {
  readonly node: Node;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The node's taints: those in its spec, and those implied by its conditions. */
  readonly taints: readonly Taint[];
  readonly pods: readonly Pod[];
  readonly allocatable: Amounts;
  readonly requests: KnownRequests;
  #requested: Amounts | undefined;

  constructor(node: Node, pods: readonly Pod[], requests: KnownRequests = new KnownRequests()) {
    this.node = node;
    this.name = node.metadata.name ?? '';
    this.labels = node.metadata.labels ?? {};
    this.taints = taintsOf(node);
    this.pods = pods;
    this.requests = requests;
    this.allocatable = allocatableOf(node);
  }

  /** The sum of the pods' requests. */
  get requested(): Amounts {
    this.#requested ??= sumOf(this.pods.map((pod) => this.requests.of(pod)));
    return this.#requested;
  }

  /** Returns the node's state with one pod added. Cheaper than `withPods`. */
  withPod(pod: Pod): NodeState {
    const state = this.withPods([...this.pods, pod]);
    state.#requested = sumOf([this.requested, this.requests.of(pod)]);
    return state;
  }

  withPods(pods: readonly Pod[]): NodeState {
    return new NodeState(this.node, pods, this.requests);
  }
}

/** The state of the cluster on which a scheduling decision is based. */
export type Snapshot = {
  readonly nodes: readonly NodeState[];
  readonly budgets: readonly Budget[];
  readonly volumes: readonly PersistentVolume[];
  namespaceLabels(namespace: string): Readonly<Record<string, string>> | undefined;
  claim(namespace: string, name: string): Claim | undefined;
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
};

/** Returns a copy of the snapshot with one node's state replaced. */
export function withNode(snapshot: Snapshot, changed: NodeState): Snapshot {
  return { ...snapshot, nodes: snapshot.nodes.map((node) => (node.name === changed.name ? changed : node)) };
}
