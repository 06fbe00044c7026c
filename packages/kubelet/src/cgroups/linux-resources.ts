import { create, type LinuxContainerResources, LinuxContainerResourcesSchema } from '@podwright/cri';
import type { ResourceAmounts } from '@podwright/kube-api';
import type { ContainerHost } from '../node/container-host.ts';
import type { ResourcePolicy } from '../node/resource-policy.ts';
import { cpuQuota, cpuShares } from './cpu.ts';

/** What the settings say and what the host can do about it. */
export type Enforcement = { policy: ResourcePolicy; host: Pick<ContainerHost, 'cgroupV2'> };

/** Amounts as a runtime takes them. The period is told with a quota of 0, too: then there is no limit. */
export function linuxResources(amounts: ResourceAmounts, { policy, host }: Enforcement): LinuxContainerResources {
  const period = BigInt(policy.cpuCfsQuotaPeriodMicros);
  return create(LinuxContainerResourcesSchema, {
    cpuShares: cpuShares(amounts.milliCpuRequest),
    ...(policy.cpuCfsQuota ? { cpuPeriod: period, cpuQuota: cpuQuota(amounts.milliCpuLimit, period) } : {}),
    memoryLimitInBytes: amounts.memoryLimitBytes,
    // What one process leaves behind without the others of its container is seldom of use.
    unified: host.cgroupV2 && !policy.singleProcessOomKill ? { 'memory.oom.group': '1' } : {},
  });
}
