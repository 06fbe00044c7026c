import { CgroupDriver, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** RuntimeConfig: returns the cgroup driver, which the kubelet then uses too. */
export function runtimeConfig({ facts }: Pick<CriServices, 'facts'>): RuntimeHandlers['runtimeConfig'] {
  const cgroupDriver = facts.cgroupDriver === 'systemd' ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS;
  return async () => ({ linux: { cgroupDriver } });
}

/** UpdateRuntimeConfig: passes the pod CIDR to the pod network, which can generate a CNI configuration from it. */
export function runtimeConfigUpdate({
  network,
  ready,
}: Pick<CriServices, 'network' | 'ready'>): RuntimeHandlers['updateRuntimeConfig'] {
  return async ({ runtimeConfig }) => {
    const cidr = runtimeConfig?.networkConfig?.podCidr ?? '';
    if (cidr === '') return {};
    await network.setPodCidr(cidr);
    ready.dropAll(); // ready sandboxes may have addresses of the previous CIDR
    return {};
  };
}
