import { type Container, isCriticalPod, type Pod, qosClass } from '@podwright/kube-api';
import { limitOf, requestOf } from '../cgroups/qos.ts';
import type { ContainerEnforcement } from './container-enforcement.ts';

type SwapResources = {
  /** The cgroup v1 limit of memory plus swap; 0 means no limit. */
  memoryAndSwapBytes: bigint;
  /** Contents of cgroup v2 files, by file name (`unified` in the CRI). */
  files: Record<string, string>;
};

/** Returns the container's swap limit (KEP-2400); no limit if the kernel does not account for swap. */
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
 * Whether a memory resize would change a running container's swap limit, which upstream's kubelet refuses (pkg/kubelet/allocation).
 * Containers whose resize policy requires a restart are exempt.
 */
export function resizesSwap(desired: Pod, current: Pod, node: ContainerEnforcement): boolean {
  const before = new Map(containersOf(current).map((container) => [container.name, container]));
  return containersOf(desired).some((container) => {
    const old = before.get(container.name);
    if (old === undefined || requestOf(container, 'memory') === requestOf(old, 'memory')) return false;
    const restarts = old.resizePolicy?.find(({ resourceName }) => resourceName === 'memory')?.restartPolicy;
    if (restarts === 'RestartContainer') return false;
    return maySwap(desired, container, node) || maySwap(current, old, node);
  });
}

const containersOf = ({ spec }: Pod) => [...spec.containers, ...(spec.initContainers ?? [])];

function maySwap(pod: Pod, container: Container, { host, policy }: ContainerEnforcement): boolean {
  if (!host.countsSwap || !host.cgroupV2) return false;
  if (policy.swapBehavior !== 'LimitedSwap' || isCriticalPod(pod) || qosClass(pod) !== 'Burstable') return false;
  const request = requestOf(container, 'memory');
  return request > 0n && request !== limitOf(container, 'memory');
}

/** Returns the container's share of the node's swap, proportional to its memory request. */
function swapShare(container: Container, { host }: ContainerEnforcement): bigint {
  const request = requestOf(container, 'memory');
  if (request > host.memoryCapacity) return 0n;
  return (request * host.swapCapacity) / host.memoryCapacity;
}
