/** Selects the pods to preempt for a critical pod (pkg/kubelet/preemption). Pure. */
import {
  isCriticalPod,
  isStaticPod,
  type Pod,
  podPriority,
  podRequest,
  type QosClass,
  qosClass,
} from '@podwright/kube-api';
import type { Refusal } from './pod-admission.ts';

/** How much of a resource must still be freed. */
type Requirement = { resource: string; amount: bigint };

/**
 * How to make room for a pod: either it is rejected for good, or the pods in `preempt` must terminate first, because the node is short of
 * the resource `shortOf`.
 */
export type Room = { refusal?: Refusal; preempt?: Pod[]; shortOf?: string };

/**
 * Makes room for a rejected pod. Only critical and static pods preempt others, and only if missing resources are the sole reason for the
 * rejection. If preemption cannot free enough, the pod is rejected with upstream's UnexpectedAdmissionError; static pods keep the original
 * reason.
 */
export function makeRoom(pod: Pod, others: Pod[], refusal: Refusal | undefined): Room {
  const { shortages, besides } = refusal ?? {};
  if (shortages === undefined || !(isCriticalPod(pod) || isStaticPod(pod))) return { refusal };
  if (besides !== undefined) return { refusal: besides };
  const all = shortages.map(({ resource, requested, used, capacity }) => {
    return { resource, amount: requested - (capacity - used) };
  });
  const displaced = others.filter((other) => mayDisplace(pod, other));
  const missing = remaining(all, displaced);
  if (missing.length > 0) return { refusal: isStaticPod(pod) ? refusal : unexpected(missing) };
  return { preempt: podsToPreempt(displaced, all), shortOf: shortages[0]!.resource };
}

function unexpected(missing: Requirement[]): Refusal {
  const shown = missing.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join('');
  const why = `preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${shown}]`;
  const message = `Unexpected error while attempting to recover from admission failure: ${why}`;
  return { reason: 'UnexpectedAdmissionError', message };
}

/**
 * Selects as few pods as possible, from the lowest QoS classes: guaranteed pods are preempted only for what burstable and best-effort pods
 * cannot free, and so on. Precondition: preempting all of `displaced` would free enough.
 */
function podsToPreempt(displaced: Pod[], all: Requirement[]): Pod[] {
  const ofClass = (qos: QosClass) => displaced.filter((other) => qosClass(other) === qos);
  const [bestEffort, burstable] = [ofClass('BestEffort'), ofClass('Burstable')];
  const guaranteed = nearest(ofClass('Guaranteed'), remaining(all, [...bestEffort, ...burstable]));
  const middle = nearest(burstable, remaining(all, [...bestEffort, ...guaranteed]));
  const least = nearest(bestEffort, remaining(all, [...middle, ...guaranteed]));
  return [...least, ...middle, ...guaranteed];
}

function mayDisplace(pod: Pod, other: Pod): boolean {
  if (isCriticalComparedWith(pod, other) && !isCriticalComparedWith(other, pod)) return true;
  const bothPrioritized = [pod, other].every((one) => one.spec.priority !== undefined || podPriority(one) !== 0);
  return bothPrioritized && podPriority(pod) > podPriority(other);
}

/**
 * Whether the pod is critical relative to `other`. Static pods are always critical relative to pods from an API server, regardless of
 * priority.
 */
function isCriticalComparedWith(pod: Pod, other: Pod): boolean {
  return isCriticalPod(pod) || (isStaticPod(pod) && !isStaticPod(other));
}

const requestOf = (pod: Pod, resource: string) => (resource === 'pods' ? 1n : podRequest(pod, resource));

/** Returns the amounts that must still be freed after the given pods have terminated. */
function remaining(requirements: Requirement[], pods: Pod[]): Requirement[] {
  return requirements
    .map(({ resource, amount }) => ({
      resource,
      amount: pods.reduce((left, pod) => left - requestOf(pod, resource), amount),
    }))
    .filter(({ amount }) => amount > 0n);
}

/** Greedily picks the pod that leaves the least to be freed (tie-break: the smaller pod), until `needed` has been freed. */
function nearest(pods: Pod[], needed: Requirement[]): Pod[] {
  const left = [...pods];
  const taken: Pod[] = [];
  for (let requirements = needed; requirements.length > 0 && left.length > 0; ) {
    const best = left.reduce((a, b) => (isNearer(b, a, requirements) ? b : a));
    left.splice(left.indexOf(best), 1);
    taken.push(best);
    requirements = remaining(requirements, [best]);
  }
  return taken;
}

function isNearer(pod: Pod, than: Pod, requirements: Requirement[]): boolean {
  const difference = distance(pod, requirements) - distance(than, requirements);
  return difference === 0 ? isSmaller(pod, than) : difference < 0;
}

/** Returns the sum of the squared fractions of the requirements that would still be missing after the pod has terminated. */
function distance(pod: Pod, requirements: Requirement[]): number {
  return requirements.reduce((sum, { resource, amount }) => {
    const missing = Number(amount - requestOf(pod, resource));
    return missing > 0 ? sum + (missing / Number(amount)) ** 2 : sum;
  }, 0);
}

function isSmaller(pod: Pod, than: Pod): boolean {
  for (const resource of ['memory', 'cpu']) {
    const [own, its] = [requestOf(pod, resource), requestOf(than, resource)];
    if (own !== its) return own < its;
  }
  return true;
}
