import { type Container, isCriticalPod, type Pod, qosClass } from '@podwright/kube-api';
import { limitOf, requestOf } from '../cgroups/qos.ts';
import type { ContainerEnforcement } from './container-enforcement.ts';

type SwapResources = {
  /** cgroup v1: memory and swap together; 0 leaves it open. */
  memoryAndSwapBytes: bigint;
  /** Files of cgroup v2. */
  files: Record<string, string>;
};

/** How much a container may swap (KEP-2400). A kernel that does not count swap is asked for nothing. */
export function swapResources(
  pod: Pod,
  container: Container,
  node: ContainerEnforcement & { memoryLimitBytes: bigint },
): SwapResources {
  if (!node.host.countsSwap) return { memoryAndSwapBytes: 0n, files: {} };
  if (!node.host.cgroupV2) return { memoryAndSwapBytes: node.memoryLimitBytes, files: {} };
  const bytes = maySwap(pod, container, node) ? swapShare(container, node) : 0n;
  return { memoryAndSwapBytes: 0n, files: { 'memory.swap.max': String(bytes) } };
}

/**
 * True for a resize of memory that would change how much a running container may swap: upstream's kubelet refuses it
 * (pkg/kubelet/allocation). One whose policy restarts the container for it is none.
 */
export function resizesSwap(desired: Pod, current: Pod, node: ContainerEnforcement): boolean {
  const before = new Map(containersOf(current).map((container) => [container.name, container]));
  return containersOf(desired).some((container) => {
    const had = before.get(container.name);
    if (had === undefined || requestOf(container, 'memory') === requestOf(had, 'memory')) return false;
    const restarts = had.resizePolicy?.find(({ resourceName }) => resourceName === 'memory')?.restartPolicy;
    if (restarts === 'RestartContainer') return false;
    return maySwap(desired, container, node) || maySwap(current, had, node);
  });
}

const containersOf = ({ spec }: Pod) => [...spec.containers, ...(spec.initContainers ?? [])];

function maySwap(pod: Pod, container: Container, { host, policy }: ContainerEnforcement): boolean {
  if (!host.countsSwap || !host.cgroupV2) return false;
  if (policy.swapBehavior !== 'LimitedSwap' || isCriticalPod(pod) || qosClass(pod) !== 'Burstable') return false;
  const request = requestOf(container, 'memory');
  return request > 0n && request !== limitOf(container, 'memory');
}

/** The same part of the swap as the container asks for of the memory. */
function swapShare(container: Container, { host }: ContainerEnforcement): bigint {
  const request = requestOf(container, 'memory');
  if (request > host.memoryCapacity) return 0n;
  return (request * host.swapCapacity) / host.memoryCapacity;
}
