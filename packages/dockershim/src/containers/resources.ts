import {
  invalid,
  type LinuxContainerResources,
  type LinuxContainerResourcesSchema,
  type MessageInitShape,
  numberWithin,
} from '@podwright/cri';
import type { ContainerInspection, ContainerResources } from '../engine/engine-types.ts';
import { unsupported } from './unsupported.ts';

/**
 * cgroup v2 settings that are ignored because Docker cannot write them. Kubelets set `memory.oom.group` on every container, so rejecting it
 * is not an option. Without it, the kernel OOM-kills a single process of the container rather than all of them.
 */
const IGNORED = new Set(['memory.oom.group']);

/**
 * Converts resource limits to the Engine's. 0 or empty means no limit on create and no change on update. A memory limit always sets the
 * memory-plus-swap limit as well, because Docker would otherwise allow the same amount again as swap. Docker has no huge page limits; the
 * kubelet sets those on the pod's cgroup.
 */
export function dockerResources(resources: LinuxContainerResources | undefined): ContainerResources {
  if (resources === undefined) return {};
  checkUnified(resources.unified);
  const number = (field: 'cpuShares' | 'cpuPeriod', minimum = 0) => numberWithin(field, resources[field], { minimum });
  return withoutZeros({
    CpuShares: number('cpuShares'),
    CpuPeriod: number('cpuPeriod'),
    CpuQuota: numberWithin('cpuQuota', resources.cpuQuota, { minimum: -1 }),
    CpusetCpus: resources.cpusetCpus,
    CpusetMems: resources.cpusetMems,
    ...memoryOf(resources),
  });
}

function memoryOf({ memoryLimitInBytes, memorySwapLimitInBytes }: LinuxContainerResources): ContainerResources {
  const memory = numberWithin('memoryLimitInBytes', memoryLimitInBytes, { minimum: -1 });
  const swap = numberWithin('memorySwapLimitInBytes', memorySwapLimitInBytes, { minimum: -1 });
  if (swap > 0 && swap < memory)
    throw invalid(`memorySwapLimitInBytes ${swap} is less than memoryLimitInBytes ${memory}, which it includes`);
  // without a memory limit, there is no swap limit either; Docker behaves the same if either limit is -1
  if (memory <= 0) return {};
  return { Memory: memory, MemorySwap: swap === 0 ? memory : swap };
}

/**
 * Converts the limits of an update. Throws `invalid_argument` if it would remove the memory limit, which Docker cannot do. Kubelets send a
 * memory limit of -1 in every update of a container without one; that is accepted.
 */
export function dockerUpdate(
  resources: LinuxContainerResources | undefined,
  { HostConfig: host }: Pick<ContainerInspection, 'HostConfig'>,
): ContainerResources {
  if (resources !== undefined && resources.memoryLimitInBytes < 0n && (host.Memory ?? 0) > 0)
    throw invalid('memoryLimitInBytes -1: Docker cannot remove the memory limit of a container');
  return dockerResources(resources);
}

/** Returns the requested `oom_score_adj`, from -1000 to 1000. */
export function oomScoreOf(resources: LinuxContainerResources | undefined): number {
  return numberWithin('oomScoreAdj', resources?.oomScoreAdj, { minimum: -1000, maximum: 1000 });
}

/** Returns a container's resource limits in effect, as a CRI message. */
export function criResources({
  HostConfig: host,
}: Pick<ContainerInspection, 'HostConfig'>): MessageInitShape<typeof LinuxContainerResourcesSchema> {
  const big = (value: number | null | undefined) => BigInt(value ?? 0);
  return {
    cpuPeriod: big(host.CpuPeriod),
    cpuQuota: big(host.CpuQuota),
    cpuShares: big(host.CpuShares),
    memoryLimitInBytes: big(host.Memory),
    memorySwapLimitInBytes: big(host.MemorySwap),
    oomScoreAdj: big(host.OomScoreAdj),
    cpusetCpus: host.CpusetCpus,
    cpusetMems: host.CpusetMems,
  };
}

function checkUnified(unified: Record<string, string>): void {
  const other = Object.keys(unified).find((key) => !IGNORED.has(key));
  if (other !== undefined) throw unsupported(`a setting of its cgroup (unified: ${JSON.stringify(other)})`);
}

function withoutZeros(resources: ContainerResources): ContainerResources {
  return Object.fromEntries(Object.entries(resources).filter(([, value]) => value !== 0 && value !== ''));
}
