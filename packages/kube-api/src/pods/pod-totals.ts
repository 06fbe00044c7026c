import { isSidecar } from '../objects/container.ts';
import type { Pod, PodSpec } from '../objects/types.ts';
import { parseQuantity } from '../values/quantity.ts';
import { type AmountKind, containerAmount, containersAmount, isHugePages, podLevelAmount } from './pod-amounts.ts';
import { qosClass } from './qos-class.ts';

/** CPU in millicores, memory in bytes. A limit of 0 means unlimited. */
export type ResourceAmounts = { milliCpuRequest: bigint; milliCpuLimit: bigint; memoryLimitBytes: bigint };

type Resource = 'cpu' | 'memory';

/** Returns the pod-level request or limit for a resource or, if it is not set, the containers' total. Excludes overhead. */
export function amountOf({ spec }: Pod, kind: AmountKind, name: string): bigint {
  return podLevelAmount(spec, kind, name) ?? containersAmount(spec, kind, name);
}

export function overheadOf({ spec }: Pod, name: string): bigint {
  const text = spec.overhead?.[name];
  return text === undefined ? 0n : parseQuantity(text).nanos;
}

/** Returns the pod's request for a resource, including overhead, in millicores for `cpu` and in bytes or as a count otherwise. */
export function podRequest(pod: Pod, name: string): bigint {
  return inUnits(amountOf(pod, 'requests', name) + overheadOf(pod, name), name);
}

/** Returns the pod's limit for a resource, including overhead; 0 if any part of the pod is unlimited. */
function podLimit(pod: Pod, name: Resource): bigint {
  const limit = amountOf(pod, 'limits', name);
  if (limit === 0n || !limitsAll(pod.spec, name)) return 0n;
  return inUnits(limit + overheadOf(pod, name), name);
}

/**
 * Whether the pod has a pod-level limit or, failing that, whether every regular container has a limit and every init container has one or
 * is preceded by a sidecar that does.
 */
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

/** Settings for the pod's cgroup: amounts, and bytes of huge pages by resource name. */
export type PodTotals = ResourceAmounts & { hugePages: Record<string, bigint> };

/** Computes the requests and limits of the pod's cgroup, including overhead. For BestEffort pods, only huge pages are set. */
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

/** Returns the number of nano-units in the unit used for a resource: a millicore for `cpu`, otherwise a byte or a count of one. */
const nanosPerUnit = (name: string) => (name === 'cpu' ? 1_000_000n : 1_000_000_000n);

/** Maximum of an amount: amounts are int64 in the CRI. */
const MAX_INT64 = 2n ** 63n - 1n;

/** Converts an amount to the resource's unit, rounded up and capped at the largest int64. */
export function inUnits(nanos: bigint, name: string): bigint {
  const unit = nanosPerUnit(name);
  const units = (nanos + unit - 1n) / unit;
  return units < MAX_INT64 ? units : MAX_INT64;
}
