import { quantityMilliValue, quantityValue } from '../api/quantity.ts';
import { allContainers, type Container, type Pod, type QosClass } from '../api/types.ts';

const COMPUTE_RESOURCES = ['cpu', 'memory'] as const;

/**
 * The pod's quality-of-service class. Guaranteed: every container has limits of CPU and memory, and requests equal to them;
 * BestEffort: none asks for either; Burstable: the rest.
 */
export function qosClass(pod: Pod): QosClass {
  const containers = allContainers(pod.spec);
  if (containers.every((container) => isBestEffort(container))) return 'BestEffort';
  return containers.every((container) => isGuaranteed(container)) ? 'Guaranteed' : 'Burstable';
}

function amount(text: string | undefined): bigint {
  return text === undefined ? 0n : quantityMilliValue(text);
}

function isBestEffort(container: Container): boolean {
  const { limits, requests } = container.resources ?? {};
  return COMPUTE_RESOURCES.every((name) => amount(limits?.[name]) === 0n && amount(requests?.[name]) === 0n);
}

function isGuaranteed(container: Container): boolean {
  const { limits, requests } = container.resources ?? {};
  return COMPUTE_RESOURCES.every((name) => {
    const limit = amount(limits?.[name]);
    return limit > 0n && amount(requests?.[name] ?? limits?.[name]) === limit;
  });
}

/** What the container asks for of `name`, in millicores or units; its limit stands in for a missing request. */
export function requestOf(container: Container, name: string): bigint {
  const text = container.resources?.requests?.[name] ?? container.resources?.limits?.[name];
  if (text === undefined) return 0n;
  return name === 'cpu' ? quantityMilliValue(text) : quantityValue(text);
}

/** The container's limit of `name` in millicores or bytes, 0 for none. */
export function limitOf(container: Container, name: 'cpu' | 'memory'): bigint {
  const text = container.resources?.limits?.[name];
  if (text === undefined) return 0n;
  return name === 'cpu' ? quantityMilliValue(text) : quantityValue(text);
}
