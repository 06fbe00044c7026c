/** Decides once for each pod, one after the other, whether it may run here. */
import { isCriticalPod } from '../api/pod-priority.ts';
import type { Pod } from '../api/types.ts';
import { type NodeFacts, type Refusal, refusePod } from './pod-admission.ts';
import { podsToPreempt } from './preemption.ts';

/** What was decided about a pod: `preempt` are the pods that must end before it begins, as it is short of this resource ('' if there are none). */
export type AdmissionDecision = { refusal: Refusal } | { refusal?: undefined; preempt: Pod[]; shortOf: string };

/** Why a pod may not run on the node as it is now, whatever the pod asks for. */
export type NodeObstacle = (pod: Pod) => Refusal | undefined;

export class PodAdmission {
  readonly #node: NodeFacts;
  readonly #obstacle: NodeObstacle;
  readonly #decided = new Map<string, Refusal | 'admitted'>();

  constructor(node: NodeFacts, obstacle: NodeObstacle = () => undefined) {
    this.#node = node;
    this.#obstacle = obstacle;
  }

  /** Decides about a new pod beside the pods that were admitted and have not ended. */
  decide(pod: Pod, others: Pod[]): AdmissionDecision {
    const refusal = this.#obstacle(pod) ?? refusePod(pod, others, this.#node);
    if (refusal === undefined) return this.admit(pod);
    const preempt = refusal.shortages && podsToPreempt(pod, others, refusal.shortages);
    const shortOf = refusal.shortages?.[0]?.resource;
    if (preempt !== undefined) return this.admit(pod, { preempt, shortOf });
    return this.refuse(pod.metadata.uid, refusal);
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
