import { type Container, isSidecar, type Pod } from '@podwright/kube-api';

/**
 * Returns the pod's effective request: the total of its main containers and sidecars, or that of an init container and the sidecars before
 * it, whichever is larger.
 */
export function podRequests(pod: Pod, requests: (container: Container) => Map<string, number>): Map<string, number> {
  const total = new Map<string, number>();
  const peak = new Map<string, number>();
  const raise = (name: string, count: number) => peak.set(name, Math.max(peak.get(name) ?? 0, count));
  for (const container of pod.spec.initContainers ?? []) {
    for (const [name, count] of requests(container)) {
      const together = (total.get(name) ?? 0) + count;
      if (isSidecar(container)) total.set(name, together);
      raise(name, together);
    }
  }
  for (const container of pod.spec.containers)
    for (const [name, count] of requests(container)) total.set(name, (total.get(name) ?? 0) + count);
  for (const [name, count] of total) raise(name, count);
  return peak;
}
