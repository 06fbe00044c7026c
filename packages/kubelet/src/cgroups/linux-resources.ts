import { create, type LinuxContainerResources, LinuxContainerResourcesSchema } from '@podwright/cri';
import type { ResourceAmounts } from '@podwright/kube-api';
import type { ResourcePolicy } from '@podwright/kubelet-configuration';
import type { ContainerHost } from '../node/container-host.ts';
import { cpuQuota, cpuShares } from './cpu.ts';

/** The node's resource policy, and what the host can enforce. */
export type Enforcement = { policy: ResourcePolicy; host: Pick<ContainerHost, 'cgroupV2'> };

/** Converts resource amounts to the CRI's LinuxContainerResources. A quota of 0 means no limit; the period is always sent. */
export function linuxResources(amounts: ResourceAmounts, { policy, host }: Enforcement): LinuxContainerResources {
  const period = BigInt(policy.cpuCfsQuotaPeriodMicros);
  return create(LinuxContainerResourcesSchema, {
    cpuShares: cpuShares(amounts.milliCpuRequest),
    ...(policy.cpuCfsQuota ? { cpuPeriod: period, cpuQuota: cpuQuota(amounts.milliCpuLimit, period) } : {}),
    memoryLimitInBytes: amounts.memoryLimitBytes,
    // on OOM, kill the whole container: a container is seldom useful with a process missing
    unified: host.cgroupV2 && !policy.singleProcessOomKill ? { 'memory.oom.group': '1' } : {},
  });
}
