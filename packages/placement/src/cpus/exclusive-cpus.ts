import {
  type Container,
  hasPodLevelResources,
  isSidecar,
  type Pod,
  parseQuantity,
  qosClass,
} from '@podwright/kube-api';

const NANOS_PER_CPU = 1_000_000_000n;

/**
 * Returns the number of exclusive CPUs for a container: its CPU request if that is an integer and the pod is Guaranteed, otherwise 0. Pure.
 */
export function exclusiveCpus(pod: Pod, { resources }: Container): number {
  if (hasPodLevelResources(pod.spec) || qosClass(pod) !== 'Guaranteed') return 0;
  const { nanos } = parseQuantity(resources?.requests?.cpu ?? resources?.limits?.cpu ?? '0');
  return nanos % NANOS_PER_CPU === 0n ? Number(nanos / NANOS_PER_CPU) : 0;
}

/**
 * Returns the maximum number of exclusive CPUs that the pod holds at any one time: those of its main containers and sidecars, or those of
 * an init container and the sidecars before it.
 */
export function exclusiveCpusOfPod(pod: Pod): number {
  let sidecars = 0;
  let peak = 0;
  for (const container of pod.spec.initContainers ?? []) {
    const own = exclusiveCpus(pod, container);
    if (isSidecar(container)) sidecars += own;
    else peak = Math.max(peak, sidecars + own);
  }
  const together = pod.spec.containers.reduce((sum, container) => sum + exclusiveCpus(pod, container), sidecars);
  return Math.max(peak, together);
}
