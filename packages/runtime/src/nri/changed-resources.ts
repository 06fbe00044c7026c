import type { LinuxResources } from '@podwright/nri';
import type { ContainerResources } from '../records/container-record.ts';

/** Converts the resources set by plugins to a container update, in which 0 and '' mean no change. */
export function changedResources({ memory, cpu, hugepageLimits, unified }: LinuxResources): ContainerResources {
  const number = (field: { value: bigint } | undefined) => Number(field?.value ?? 0);
  return {
    cpuShares: number(cpu?.shares),
    cpuQuota: number(cpu?.quota),
    cpuPeriod: number(cpu?.period),
    cpusetCpus: cpu?.cpus ?? '',
    cpusetMems: cpu?.mems ?? '',
    memoryLimitBytes: number(memory?.limit),
    memorySwapLimitBytes: number(memory?.swap),
    oomScoreAdj: 0,
    hugepageLimits: hugepageLimits.map(({ pageSize, limit }) => ({ pageSize, limitBytes: Number(limit) })),
    unified,
  };
}
