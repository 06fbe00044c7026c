/** Decides once for each pod, one after the other, whether it may run here. */
import { isCriticalPod, type Node, type Pod } from '@podwright/kube-api';
import { type NodeFacts, type Refusal, refusePod } from './pod-admission.ts';
import { makeRoom } from './preemption.ts';

/** What was decided about a pod: `preempt` are the pods that must end before it begins, as it is short of this resource ('' if there are none). */
export type AdmissionDecision = { refusal: Refusal } | { refusal?: undefined; preempt: Pod[]; shortOf: string };

/** Others who refuse pods: before it is looked at what a pod asks for, as under pressure, and after it. */
export type AdmissionChecks = Partial<Record<'first' | 'last', (pod: Pod) => Refusal | undefined>>;

export class PodAdmission {
  readonly #node: (told?: Node) => NodeFacts;
  readonly #checks: AdmissionChecks;
  readonly #decided = new Map<string, Refusal | 'admitted'>();

  /** `node` is what the node offers, by `told` if that is given, and else by what was heard of it last. */
  constructor(node: (told?: Node) => NodeFacts, checks: AdmissionChecks = {}) {
    this.#node = node;
    this.#checks = checks;
  }

  /** Decides about a new pod beside the pods that were admitted and have not ended. */
  decide(pod: Pod, others: Pod[], told?: Node): AdmissionDecision {
    const { uid } = pod.metadata;
    const early = this.#checks.first?.(pod);
    if (early !== undefined) return this.refuse(uid, early);
    const room = makeRoom(pod, others, refusePod(pod, others, this.#node(told)));
    const refusal = room.refusal ?? this.#checks.last?.(pod);
    return refusal === undefined ? this.admit(pod, room) : this.refuse(uid, refusal);
  }

  /** Refuses a pod without a look, such as one that asks for what there is not; also one that was admitted before. */
  refuse(podUid: string, refusal: Refusal): AdmissionDecision {
    this.#decided.set(podUid, refusal);
    return { refusal };
  }

  /** Takes a pod without a look, such as one that runs already. */
  admit(pod: Pod, { preempt = [], shortOf = '' }: { preempt?: Pod[]; shortOf?: string } = {}): AdmissionDecision {
    this.#decided.set(pod.metadata.uid, 'admitted');
    return { preempt, shortOf };
  }

  /** Why the pod was refused, if it was. */
  refusalOf(podUid: string): Refusal | undefined {
    const decided = this.#decided.get(podUid);
    return decided === 'admitted' ? undefined : decided;
  }

  isAdmitted(podUid: string): boolean {
    return this.#decided.get(podUid) === 'admitted';
  }

  /** The pod has left its source. */
  forget(podUid: string): void {
    this.#decided.delete(podUid);
  }
}

/**
 * The order in which pods that come together are decided about: those that were here before, then critical ones, each in the order
 * of their creation, and else as they came. Pure.
 */
export function admissionOrder(pods: Pod[], wasHere: (pod: Pod) => boolean): Pod[] {
  const rank = (pod: Pod) => (wasHere(pod) ? 0 : isCriticalPod(pod) ? 1 : 2);
  const created = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return pods.toSorted((a, b) => rank(a) - rank(b) || created(a) - created(b));
}
