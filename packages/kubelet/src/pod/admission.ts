/** Decides, once per pod, whether it may run on this node. */
import { isCriticalPod, type Node, type Pod } from '@podwright/kube-api';
import { type NodeFacts, type Refusal, refusePod } from './pod-admission.ts';
import { makeRoom } from './preemption.ts';

/**
 * The admission decision for a pod. The pods in `preempt` must terminate first, because the node is short of the resource `shortOf` ('' if
 * `preempt` is empty).
 */
export type AdmissionDecision = { refusal: Refusal } | { refusal?: undefined; preempt: Pod[]; shortOf: string };

/**
 * Additional admission checks: `first` runs before resources are compared (for example, for node pressure), `last` after everything else.
 */
export type AdmissionChecks = Partial<Record<'first' | 'last', (pod: Pod) => Refusal | undefined>>;

export class PodAdmission {
  readonly #node: (object?: Node) => NodeFacts;
  readonly #checks: AdmissionChecks;
  readonly #decided = new Map<string, Refusal | 'admitted'>();

  /**
   * `node` returns the resources and features that the node offers, according to the given Node object (default: the last one received).
   */
  constructor(node: (object?: Node) => NodeFacts, checks: AdmissionChecks = {}) {
    this.#node = node;
    this.#checks = checks;
  }

  /**
   * Decides whether to admit a new pod. `others`: the admitted pods that have not terminated. `object`: a Node object to use instead of the
   * last one received.
   */
  decide(pod: Pod, others: Pod[], object?: Node): AdmissionDecision {
    const { uid } = pod.metadata;
    const early = this.#checks.first?.(pod);
    if (early !== undefined) return this.refuse(uid, early);
    const room = makeRoom(pod, others, refusePod(pod, others, this.#node(object)));
    const refusal = room.refusal ?? this.#checks.last?.(pod);
    return refusal === undefined ? this.admit(pod, room) : this.refuse(uid, refusal);
  }

  /** Rejects a pod without any checks, for example because its devices are unavailable. Overrides an earlier admission. */
  refuse(podUid: string, refusal: Refusal): AdmissionDecision {
    this.#decided.set(podUid, refusal);
    return { refusal };
  }

  /** Admits a pod without any checks, for example because it is already running. */
  admit(pod: Pod, { preempt = [], shortOf = '' }: { preempt?: Pod[]; shortOf?: string } = {}): AdmissionDecision {
    this.#decided.set(pod.metadata.uid, 'admitted');
    return { preempt, shortOf };
  }

  /** Returns why the pod was rejected; `undefined` if it was not. */
  refusalOf(podUid: string): Refusal | undefined {
    const decided = this.#decided.get(podUid);
    return decided === 'admitted' ? undefined : decided;
  }

  isAdmitted(podUid: string): boolean {
    return this.#decided.get(podUid) === 'admitted';
  }

  /** Must be called when the pod has been removed from its source. */
  forget(podUid: string): void {
    this.#decided.delete(podUid);
  }
}

/**
 * Returns the order in which to admit pods that arrive together: pods that were already on this node, then critical pods, then all others;
 * each group is sorted by creation time. Pure.
 */
export function admissionOrder(pods: Pod[], wasHere: (pod: Pod) => boolean): Pod[] {
  const rank = (pod: Pod) => (wasHere(pod) ? 0 : isCriticalPod(pod) ? 1 : 2);
  const created = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return pods.toSorted((a, b) => rank(a) - rank(b) || created(a) - created(b));
}
