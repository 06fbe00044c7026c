/** Which pods make room for a pod that is more important (pkg/kubelet/preemption). Pure. */
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

/** The amount of a resource that is still to be freed. */
type Requirement = { resource: string; amount: bigint };

/** What becomes of a pod that is refused, or not: those of `preempt` end before it begins, as it is short of the resource `shortOf`. */
export type Room = { refusal?: Refusal; preempt?: Pod[]; shortOf?: string };

/**
 * Only a critical pod makes others end, and only if that is all that it lacks. What it cannot have so is upstream's unexpected error; of a
 * static pod its reason stays to be seen.
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
 * As few as possible, of the lowest quality of service: guaranteed pods only for what the others do not free, and so on. All of them
 * together are enough.
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
  if (isVital(pod, other) && !isVital(other, pod)) return true;
  const bothSay = [pod, other].every((one) => one.spec.priority !== undefined || podPriority(one) !== 0);
  return bothSay && podPriority(pod) > podPriority(other);
}

/** Beside a pod of an API server a static one is critical, whatever its priority. */
function isVital(pod: Pod, beside: Pod): boolean {
  return isCriticalPod(pod) || (isStaticPod(pod) && !isStaticPod(beside));
}

const requestOf = (pod: Pod, resource: string) => (resource === 'pods' ? 1n : podRequest(pod, resource));

/** What is still to be freed once these pods have ended. */
function remaining(requirements: Requirement[], pods: Pod[]): Requirement[] {
  return requirements
    .map(({ resource, amount }) => ({
      resource,
      amount: pods.reduce((left, pod) => left - requestOf(pod, resource), amount),
    }))
    .filter(({ amount }) => amount > 0n);
}

/** Takes the pod that frees the largest part of what is wanted, the smaller of two that free as much, until all is free. */
function nearest(pods: Pod[], wanted: Requirement[]): Pod[] {
  const left = [...pods];
  const taken: Pod[] = [];
  for (let requirements = wanted; requirements.length > 0 && left.length > 0; ) {
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

/** The sum of the squares of the parts that would still be missing. */
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
