import { create, type LinuxContainerResources, LinuxContainerResourcesSchema } from '@podwright/cri';
import { quantityMilliValue, quantityValue } from '../api/quantity.ts';
import { type Container, isSidecar, type Pod } from '../api/types.ts';
import { type Enforcement, linuxResources, type ResourceAmounts } from './linux-resources.ts';
import { limitOf, requestOf } from './qos.ts';

type Resource = 'cpu' | 'memory';
type Amount<N extends string> = (container: Container, name: N) => bigint;

const larger = (a: bigint, b: bigint) => (a > b ? a : b);

/**
 * What the whole pod needs: the ordinary containers with all sidecars, or any init container with the sidecars started
 * before it, whichever is more.
 */
function podTotal<N extends string>(pod: Pod, name: N, amount: Amount<N>): bigint {
  let sidecars = 0n;
  let initPeak = 0n;
  for (const container of pod.spec.initContainers ?? []) {
    const own = amount(container, name);
    if (isSidecar(container)) sidecars += own;
    initPeak = larger(initPeak, isSidecar(container) ? sidecars : sidecars + own);
  }
  const together = pod.spec.containers.reduce((sum, container) => sum + amount(container, name), sidecars);
  return larger(together, initPeak);
}

function overheadOf(pod: Pod, name: string): bigint {
  const text = pod.spec.overhead?.[name];
  if (text === undefined) return 0n;
  return name === 'cpu' ? quantityMilliValue(text) : quantityValue(text);
}

/** A pod has a limit only if every container that runs at the same time has one. */
function limitsAll(pod: Pod, name: Resource): boolean {
  const init = pod.spec.initContainers ?? [];
  return [...pod.spec.containers, ...init].every((container) => limitOf(container, name) > 0n);
}

/** Limits of the pod's cgroup. Overhead comes on top of the containers. */
export function podTotals(pod: Pod): ResourceAmounts {
  const limit = (name: Resource) => (limitsAll(pod, name) ? podTotal(pod, name, limitOf) + overheadOf(pod, name) : 0n);
  return {
    milliCpuRequest: podTotal(pod, 'cpu', requestOf) + overheadOf(pod, 'cpu'),
    milliCpuLimit: limit('cpu'),
    memoryLimitBytes: limit('memory'),
  };
}

/** What the pod asks for of a resource, its overhead included: millicores of `cpu`, of the others bytes or pieces. */
export function podRequest(pod: Pod, name: string): bigint {
  return podTotal(pod, name, requestOf) + overheadOf(pod, name);
}

/** What the pod's containers ask for without its overhead, for runtimes that size a virtual machine by it. */
export function podResources(pod: Pod, enforcement: Enforcement): LinuxContainerResources {
  return linuxResources(
    {
      milliCpuRequest: podTotal(pod, 'cpu', requestOf),
      milliCpuLimit: podTotal(pod, 'cpu', limitOf),
      memoryLimitBytes: podTotal(pod, 'memory', limitOf),
    },
    enforcement,
  );
}

export function podOverhead(pod: Pod, enforcement: Enforcement): LinuxContainerResources {
  if (pod.spec.overhead === undefined) return create(LinuxContainerResourcesSchema);
  const milliCpu = overheadOf(pod, 'cpu');
  const memoryLimitBytes = overheadOf(pod, 'memory');
  return linuxResources({ milliCpuRequest: milliCpu, milliCpuLimit: milliCpu, memoryLimitBytes }, enforcement);
}
