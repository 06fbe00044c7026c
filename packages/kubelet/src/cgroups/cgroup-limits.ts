/** Limits for the kubelet's cgroups, as set by upstream (pkg/kubelet/cm). Pure. */
import type { CgroupLimits } from '@podwright/host';
import { type Pod, podRequest, podTotals, qosClass } from '@podwright/kube-api';
import type { ResourcePolicy } from '@podwright/kubelet-configuration';
import type { NodeAmounts } from '../node/node-allocatable.ts';
import { cpuQuota, cpuShares } from './cpu.ts';
import { hugePageSize } from './huge-pages.ts';

/** Node settings that affect pod limits. */
export type PodLimitSettings = {
  /** Maximum number of processes and threads per pod (`podPidsLimit`); absent for no limit. */
  pidsPerPod?: number;
  policy: ResourcePolicy;
  /** The host's huge page sizes, such as `2MB`. */
  hugePageSizes: string[];
};

/**
 * Returns the limits for a pod's cgroup. Limits that the pod does not have are set to unlimited, because the cgroup may still have them
 * from before a resize.
 */
export function podCgroupLimits(pod: Pod, { pidsPerPod, policy, hugePageSizes }: PodLimitSettings): CgroupLimits {
  const { milliCpuRequest, milliCpuLimit, memoryLimitBytes, hugePages } = podTotals(pod);
  const quota = policy.cpuCfsQuota ? cpuQuota(milliCpuLimit, BigInt(policy.cpuCfsQuotaPeriodMicros)) : 0n;
  const pages = new Map(Object.entries(hugePages).map(([name, bytes]) => [hugePageSize(name), Number(bytes)]));
  return {
    cpuShares: Number(cpuShares(milliCpuRequest)),
    cpuPeriodUs: policy.cpuCfsQuotaPeriodMicros,
    cpuQuotaUs: quota === 0n ? -1 : Number(quota),
    memoryLimitBytes: memoryLimitBytes === 0n ? -1 : Number(memoryLimitBytes),
    pidsLimit: pidsPerPod ?? -1,
    hugepageLimits: Object.fromEntries(hugePageSizes.map((size) => [size, pages.get(size) ?? 0])),
    unified: podReservation(pod, policy),
  };
}

/** Returns the pod's memory protection under MemoryQoS: hard (`memory.min`) for a Guaranteed pod, best-effort (`memory.low`) otherwise. */
function podReservation(pod: Pod, { memoryQos }: ResourcePolicy): Record<string, string> {
  const bytes = podRequest(pod, 'memory');
  if (memoryQos?.reservation !== 'TieredReservation' || bytes === 0n) return {};
  return { [qosClass(pod) === 'Guaranteed' ? 'memory.min' : 'memory.low']: String(bytes) };
}

/** Total requests of the pods in a QoS class. */
export type ClassRequests = { milliCpu: bigint; memoryBytes: bigint };

/**
 * Returns the limits for the Burstable class's cgroup. Its CPU weight is the sum over all its pods, so that Guaranteed pods, whose cgroups
 * are its siblings, get their fair share.
 */
export function burstableLimits({ milliCpu, memoryBytes }: ClassRequests, { memoryQos }: ResourcePolicy): CgroupLimits {
  const low = memoryQos?.reservation === 'TieredReservation' ? memoryBytes : 0n;
  return {
    cpuShares: Number(cpuShares(milliCpu)),
    ...(memoryQos === undefined ? {} : { unified: { 'memory.low': String(low) } }),
  };
}

/** Limits for the BestEffort class's cgroup: the kernel's minimum CPU weight. */
export const BEST_EFFORT_LIMITS: CgroupLimits = { cpuShares: 2 };

/**
 * Returns the limits for the pods' parent cgroup. Its CPU weight is based on the node's allocatable CPU, because the kernel's default
 * weight corresponds to a single core.
 */
export function allPodsLimits(milliCpu: bigint, amounts: NodeAmounts | undefined): CgroupLimits {
  return {
    cpuShares: Number(cpuShares(milliCpu)),
    memoryLimitBytes: amounts?.memoryBytes ?? -1,
    pidsLimit: amounts?.pids ?? -1,
  };
}

/**
 * Returns the memory protection of the pods' parent cgroup under MemoryQoS. Needed because the kernel caps a child cgroup's protection at
 * that of its parent.
 */
export function allPodsReservation(requestedBytes: bigint, { memoryQos }: ResourcePolicy): CgroupLimits | undefined {
  if (memoryQos === undefined) return undefined;
  const bytes = memoryQos.reservation === 'TieredReservation' ? requestedBytes : 0n;
  return { unified: { 'memory.min': String(bytes) } };
}
