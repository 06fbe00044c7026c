import { create, type LinuxContainerResources, LinuxContainerResourcesSchema } from '@podwright/cri';
import {
  type AmountKind,
  containerAmount,
  containersAmount,
  isHugePages,
  isSidecar,
  type Pod,
  type PodSpec,
  parseQuantity,
  podLevelAmount,
  qosClass,
} from '@podwright/kube-api';
import { type Enforcement, linuxResources, type ResourceAmounts } from './linux-resources.ts';
import { inUnits } from './units.ts';

type Resource = 'cpu' | 'memory';

/** What the pod as a whole was given, or else what its containers need together; its overhead is not in it. */
function amountOf({ spec }: Pod, kind: AmountKind, name: string): bigint {
  return podLevelAmount(spec, kind, name) ?? containersAmount(spec, kind, name);
}

function overheadOf({ spec }: Pod, name: string): bigint {
  const text = spec.overhead?.[name];
  return text === undefined ? 0n : parseQuantity(text).nanos;
}

/** What the pod asks for of a resource, its overhead included: millicores of `cpu`, of the others bytes or pieces. */
export function podRequest(pod: Pod, name: string): bigint {
  return inUnits(amountOf(pod, 'requests', name) + overheadOf(pod, name), name);
}

/** What the pod may use of a resource, its overhead included; 0 if anything in it has no limit. */
function podLimit(pod: Pod, name: Resource): bigint {
  const limit = amountOf(pod, 'limits', name);
  if (limit === 0n || !limitsAll(pod.spec, name)) return 0n;
  return inUnits(limit + overheadOf(pod, name), name);
}

/** The whole pod has a limit, or else each container that runs at the same time. */
function limitsAll(spec: PodSpec, name: Resource): boolean {
  if ((podLevelAmount(spec, 'limits', name) ?? 0n) > 0n) return true;
  let sidecars = 0n;
  for (const container of spec.initContainers ?? []) {
    const own = containerAmount(container, 'limits', name);
    if (sidecars + own === 0n) return false;
    if (isSidecar(container)) sidecars += own;
  }
  return spec.containers.every((container) => containerAmount(container, 'limits', name) > 0n);
}

/** What the pod's cgroup has: amounts, and bytes of huge pages by the resource's name. */
export type PodTotals = ResourceAmounts & { hugePages: Record<string, bigint> };

/** Limits of the pod's cgroup. Overhead comes on top of the containers; a BestEffort pod has none of its own. */
export function podTotals(pod: Pod): PodTotals {
  const hugePages = Object.fromEntries(hugePageNames(pod.spec).map((name) => [name, podRequest(pod, name)]));
  if (qosClass(pod) === 'BestEffort')
    return { milliCpuRequest: 0n, milliCpuLimit: 0n, memoryLimitBytes: 0n, hugePages };
  return {
    milliCpuRequest: podRequest(pod, 'cpu'),
    milliCpuLimit: podLimit(pod, 'cpu'),
    memoryLimitBytes: podLimit(pod, 'memory'),
    hugePages,
  };
}

function hugePageNames({ resources, overhead, containers, initContainers = [] }: PodSpec): string[] {
  const all = [...containers, ...initContainers].map((container) => container.resources);
  const lists = [...all, resources].flatMap((one) => [one?.requests, one?.limits]);
  return [...new Set([...lists, overhead].flatMap((list) => Object.keys(list ?? {})))].filter(isHugePages);
}

/** What the pod's containers ask for without its overhead, for runtimes that size a virtual machine by it. */
export function podResources(pod: Pod, enforcement: Enforcement): LinuxContainerResources {
  return linuxResources(
    {
      milliCpuRequest: inUnits(amountOf(pod, 'requests', 'cpu'), 'cpu'),
      milliCpuLimit: inUnits(amountOf(pod, 'limits', 'cpu'), 'cpu'),
      memoryLimitBytes: inUnits(amountOf(pod, 'limits', 'memory'), 'memory'),
    },
    enforcement,
  );
}

export function podOverhead(pod: Pod, enforcement: Enforcement): LinuxContainerResources {
  if (pod.spec.overhead === undefined) return create(LinuxContainerResourcesSchema);
  const milliCpu = inUnits(overheadOf(pod, 'cpu'), 'cpu');
  const memoryLimitBytes = inUnits(overheadOf(pod, 'memory'), 'memory');
  return linuxResources({ milliCpuRequest: milliCpu, milliCpuLimit: milliCpu, memoryLimitBytes }, enforcement);
}
