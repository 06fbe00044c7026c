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
 * Files of cgroup v2 that every kubelet may name and Docker cannot write. Without `memory.oom.group` the kernel ends one process of a
 * container instead of all; whoever asks for it asks for it of every container, so it is no error.
 */
const LEFT_OUT = new Set(['memory.oom.group']);

/**
 * Limits in the Engine's words; what is 0 or empty is no limit in a creation, and no change in an update. Memory brings its limit of
 * memory and swap along: without, Docker lets a container swap as much again. Huge pages are left to the pod's cgroup, whose limits
 * the kubelet writes; Docker has none.
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
  // without a limit of memory there is none of swap, which is what Docker does with -1 for either
  if (memory <= 0) return {};
  return { Memory: memory, MemorySwap: swap === 0 ? memory : swap };
}

/**
 * The limits of an update; `invalid_argument` for what Docker can give only to a container that is made anew. Kubelets say -1 of memory
 * with each change of a container that has no limit of it.
 */
export function dockerUpdate(
  resources: LinuxContainerResources | undefined,
  { HostConfig: host }: Pick<ContainerInspection, 'HostConfig'>,
): ContainerResources {
  if (resources !== undefined && resources.memoryLimitInBytes < 0n && (host.Memory ?? 0) > 0)
    throw invalid('memoryLimitInBytes -1: Docker cannot take the limit of memory from a container');
  return dockerResources(resources);
}

/** From -1000 to 1000. */
export function oomScoreOf(resources: LinuxContainerResources | undefined): number {
  return numberWithin('oomScoreAdj', resources?.oomScoreAdj, { minimum: -1000, maximum: 1000 });
}

/** The limits in force, as the CRI tells them. */
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
  const other = Object.keys(unified).find((key) => !LEFT_OUT.has(key));
  if (other !== undefined) throw unsupported(`a setting of its cgroup (unified: ${JSON.stringify(other)})`);
}

function withoutZeros(resources: ContainerResources): ContainerResources {
  return Object.fromEntries(Object.entries(resources).filter(([, value]) => value !== 0 && value !== ''));
}
