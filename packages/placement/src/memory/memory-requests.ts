import {
  type Container,
  hasPodLevelResources,
  isHugePages,
  isSidecar,
  type Pod,
  qosClass,
  quantityValue,
} from '@podwright/kube-api';
import type { MemoryRequest } from './memory-machine.ts';

/** Returns the memory and huge pages to allocate to a container: its requests if the pod is Guaranteed, otherwise none. Pure. */
export function memoryRequest(pod: Pod, { resources = {} }: Container): MemoryRequest {
  if (hasPodLevelResources(pod.spec) || qosClass(pod) !== 'Guaranteed') return {};
  const requested = Object.entries({ ...resources.limits, ...resources.requests });
  const own = requested.filter(([name]) => name === 'memory' || isHugePages(name));
  return Object.fromEntries(own.map(([name, amount]) => [name, quantityValue(amount)]));
}

/** Returns the maximum amounts that the pod holds at any one time, by resource. */
export function memoryRequestOfPod(pod: Pod): MemoryRequest {
  const sidecars: MemoryRequest = {};
  const peak: MemoryRequest = {};
  for (const container of pod.spec.initContainers ?? []) {
    for (const [name, size] of Object.entries(memoryRequest(pod, container))) {
      const together = (sidecars[name] ?? 0n) + size;
      if (isSidecar(container)) sidecars[name] = together;
      else if (together > (peak[name] ?? 0n)) peak[name] = together;
    }
  }
  const total: MemoryRequest = {};
  for (const container of pod.spec.containers)
    for (const [name, size] of Object.entries(memoryRequest(pod, container))) total[name] = (total[name] ?? 0n) + size;
  return Object.fromEntries(
    Object.entries(total).map(([name, size]) => {
      const lasting = size + (sidecars[name] ?? 0n);
      return [name, lasting < (peak[name] ?? 0n) ? peak[name]! : lasting];
    }),
  );
}
