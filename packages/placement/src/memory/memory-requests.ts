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

/** What a container is given of NUMA nodes: all that it asks for, if its pod is guaranteed, else nothing. Pure. */
export function memoryRequest(pod: Pod, { resources = {} }: Container): MemoryRequest {
  if (hasPodLevelResources(pod.spec) || qosClass(pod) !== 'Guaranteed') return {};
  const asked = Object.entries({ ...resources.limits, ...resources.requests });
  const own = asked.filter(([name]) => name === 'memory' || isHugePages(name));
  return Object.fromEntries(own.map(([name, amount]) => [name, quantityValue(amount)]));
}

/** What the pod has at once at most. */
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
