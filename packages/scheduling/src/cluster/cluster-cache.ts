import { type KubeObject, type Node, namespacedName, type Pod } from '@podwright/kube-api';
import { type Budget, type Claim, hasEnded, type PersistentVolume, type StorageClass } from './objects.ts';
import { KnownRequests, NodeState, type Snapshot } from './snapshot.ts';

/** Read access to the objects of a kind, as provided by informers. */
export type ObjectReader<T extends KubeObject> = {
  get(place: { namespace?: string; name: string }): T | undefined;
  list(): T[];
};

/** Readers for the objects that are looked up on demand: namespaces, claims, volumes, storage classes and disruption budgets. */
export type LookedUp = {
  namespaces: ObjectReader<KubeObject>;
  claims: ObjectReader<Claim>;
  volumes: ObjectReader<PersistentVolume>;
  storageClasses: ObjectReader<StorageClass>;
  budgets: ObjectReader<Budget>;
};

/**
 * Nodes and their pods. A pod assigned by this scheduler counts at once: it is assumed until the API server reports it as assigned or
 * removed, or its binding fails.
 */
export class ClusterCache {
  readonly #lookedUp: LookedUp;
  readonly #nodes = new Map<string, Node>();
  /** Pods on nodes, keyed by node name, then by namespace and name of the pod. */
  readonly #pods = new Map<string, Map<string, Pod>>();
  readonly #nodeOf = new Map<string, string>();
  /** UIDs of assumed pods: this scheduler has assigned them, but the API server has not reported that yet. */
  readonly #assumed = new Set<string>();
  readonly #requests = new KnownRequests();
  readonly #states = new Map<string, NodeState>();

  constructor(lookedUp: LookedUp) {
    this.#lookedUp = lookedUp;
  }

  setNode(node: Node): void {
    const { name = '' } = node.metadata;
    this.#nodes.set(name, node);
    this.#states.delete(name);
  }

  deleteNode({ metadata: { name = '' } }: Node): void {
    this.#nodes.delete(name);
    this.#states.delete(name);
  }

  /** Adds the reported state of a pod. An assumed pod that is not yet reported as assigned keeps its node. */
  setPod(pod: Pod): void {
    const node = pod.spec.nodeName ?? '';
    if (node === '' && this.#assumed.has(pod.metadata.uid)) return;
    this.#assumed.delete(pod.metadata.uid);
    if (node === '' || hasEnded(pod)) this.#remove(namespacedName(pod));
    else this.#put(pod, node);
  }

  deletePod(pod: Pod): void {
    this.#assumed.delete(pod.metadata.uid);
    this.#remove(namespacedName(pod));
  }

  assume(pod: Pod, node: string): void {
    this.#assumed.add(pod.metadata.uid);
    this.#put({ ...pod, spec: { ...pod.spec, nodeName: node } }, node);
  }

  /** Removes an assumed pod from its node, unless the API server has since reported it as assigned. */
  forget(pod: Pod): void {
    if (this.#assumed.delete(pod.metadata.uid)) this.#remove(namespacedName(pod));
  }

  /** Returns a pod that has a node, or that is assumed to have one. */
  assignedPod(key: string): Pod | undefined {
    return this.#pods.get(this.#nodeOf.get(key) ?? '')?.get(key);
  }

  isAssumed({ metadata }: Pod): boolean {
    return this.#assumed.has(metadata.uid);
  }

  /**
   * Whether a pod assigned to a node requests less of some resource after the change than before, for example because the node has applied
   * a smaller size.
   */
  freesResources(before: Pod, after: Pod): boolean {
    const left = this.#requests.of(after);
    return [...this.#requests.of(before)].some(([name, amount]) => (left.get(name) ?? 0n) < amount);
  }

  snapshot(): Snapshot {
    const { namespaces, claims, volumes, storageClasses, budgets } = this.#lookedUp;
    return {
      nodes: [...this.#nodes.keys()].map((name) => this.#state(name)),
      budgets: budgets.list(),
      volumes: volumes.list(),
      namespaceLabels: (name) => namespaces.get({ name })?.metadata.labels,
      claim: (namespace, name) => claims.get({ namespace, name }),
      volume: (name) => volumes.get({ name }),
      storageClass: (name) => storageClasses.get({ name }),
    };
  }

  #state(name: string): NodeState {
    const pods = [...(this.#pods.get(name)?.values() ?? [])];
    const state = this.#states.get(name) ?? new NodeState(this.#nodes.get(name)!, pods, this.#requests);
    this.#states.set(name, state);
    return state;
  }

  #put(pod: Pod, node: string): void {
    const key = namespacedName(pod);
    this.#remove(key);
    this.#nodeOf.set(key, node);
    const pods = this.#pods.get(node) ?? new Map<string, Pod>();
    this.#pods.set(node, pods.set(key, pod));
    const state = this.#states.get(node);
    if (state !== undefined) this.#states.set(node, state.withPod(pod));
  }

  #remove(key: string): void {
    const node = this.#nodeOf.get(key);
    if (node === undefined) return;
    this.#nodeOf.delete(key);
    const pods = this.#pods.get(node);
    pods?.delete(key);
    if (pods?.size === 0) this.#pods.delete(node);
    this.#states.delete(node);
  }
}
