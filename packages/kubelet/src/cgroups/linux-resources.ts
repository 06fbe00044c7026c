import { create, type LinuxContainerResources, LinuxContainerResourcesSchema } from '@podwright/cri';
import type { ResourceAmounts } from '@podwright/kube-api';
import type { ResourcePolicy } from '@podwright/kubelet-configuration';
import type { ContainerHost } from '../node/container-host.ts';
import { cpuQuota, cpuShares } from './cpu.ts';

/** The node's resource policy, and the host's ability to enforce it. */
export type Enforcement = { policy: ResourcePolicy; host: Pick<ContainerHost, 'cgroupV2'> };

/** Amounts as CRI LinuxContainerResources. A quota of 0 is no limit; the period is sent in any case. */
export function linuxResources(amounts: ResourceAmounts, { policy, host }: Enforcement): LinuxContainerResources {
  const period = BigInt(policy.cpuCfsQuotaPeriodMicros);
  return create(LinuxContainerResourcesSchema, {
    cpuShares: cpuShares(amounts.milliCpuRequest),
    ...(policy.cpuCfsQuota ? { cpuPeriod: period, cpuQuota: cpuQuota(amounts.milliCpuLimit, period) } : {}),
    memoryLimitInBytes: amounts.memoryLimitBytes,
    // kill the whole container on OOM: it is seldom of use without one of its processes
    unified: host.cgroupV2 && !policy.singleProcessOomKill ? { 'memory.oom.group': '1' } : {},
  });
}
