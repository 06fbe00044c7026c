import { isSidecar } from '../objects/container.ts';
import type { Pod, PodSpec } from '../objects/types.ts';
import { parseQuantity } from '../values/quantity.ts';
import { inUnits } from '../values/units.ts';
import { type AmountKind, containerAmount, containersAmount, isHugePages, podLevelAmount } from './pod-amounts.ts';
import { qosClass } from './qos-class.ts';

/** Millicores and bytes, 0 for what is not limited. */
export type ResourceAmounts = { milliCpuRequest: bigint; milliCpuLimit: bigint; memoryLimitBytes: bigint };

type Resource = 'cpu' | 'memory';

/** What the pod as a whole was given, or else what its containers need together; its overhead is not in it. */
export function amountOf({ spec }: Pod, kind: AmountKind, name: string): bigint {
  return podLevelAmount(spec, kind, name) ?? containersAmount(spec, kind, name);
}

export function overheadOf({ spec }: Pod, name: string): bigint {
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
