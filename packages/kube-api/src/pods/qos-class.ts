import type { ResourceRequirements } from '../objects/container.ts';
import { allContainers, type Pod, type QosClass } from '../objects/types.ts';
import { quantityMilliValue } from '../values/quantity.ts';

const COMPUTE_RESOURCES = ['cpu', 'memory'] as const;

/**
 * Returns the pod's QoS class, based on the pod-level resources if there are any, and on the containers' resources otherwise. Guaranteed
 * requires CPU and memory limits everywhere, with equal requests. BestEffort requires that there are no CPU or memory requests or limits at
 * all. All other pods are Burstable.
 */
export function qosClass(pod: Pod): QosClass {
  const all = pod.spec.resources
    ? [pod.spec.resources]
    : allContainers(pod.spec).map(({ resources }) => resources ?? {});
  if (all.every((resources) => isBestEffort(resources))) return 'BestEffort';
  return all.every((resources) => isGuaranteed(resources)) ? 'Guaranteed' : 'Burstable';
}

function amount(text: string | undefined): bigint {
  return text === undefined ? 0n : quantityMilliValue(text);
}

function isBestEffort({ limits, requests }: ResourceRequirements): boolean {
  return COMPUTE_RESOURCES.every((name) => amount(limits?.[name]) === 0n && amount(requests?.[name]) === 0n);
}

function isGuaranteed({ limits, requests }: ResourceRequirements): boolean {
  return COMPUTE_RESOURCES.every((name) => {
    const limit = amount(limits?.[name]);
    return limit > 0n && amount(requests?.[name] ?? limits?.[name]) === limit;
  });
}
