import { CgroupDriver, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** RuntimeConfig: the cgroup driver, which the kubelet then uses, too. */
export function runtimeConfig({ facts }: Pick<CriServices, 'facts'>): RuntimeHandlers['runtimeConfig'] {
  const cgroupDriver = facts.cgroupDriver === 'systemd' ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS;
  return async () => ({ linux: { cgroupDriver } });
}

/** UpdateRuntimeConfig: the pod CIDR, from which a network configuration may be written. */
export function runtimeConfigUpdate({
  network,
  ready,
}: Pick<CriServices, 'network' | 'ready'>): RuntimeHandlers['updateRuntimeConfig'] {
  return async ({ runtimeConfig }) => {
    const cidr = runtimeConfig?.networkConfig?.podCidr ?? '';
    if (cidr === '') return {};
    await network.setPodCidr(cidr);
    ready.dropAll(); // they may have addresses of the CIDR before
    return {};
  };
}
