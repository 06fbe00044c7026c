import { errorMessage, Gauge, isUnimplemented, type Logger, type Registry } from '@podwright/base';
import { CgroupDriver, type CriClient } from '@podwright/cri';
import { type CgroupHierarchy, discoverCgroups } from '@podwright/host';

/** Returns the host's cgroup hierarchy. If there is none, logs the reason and returns `undefined`. */
export async function hostCgroups(
  logger: Logger,
  discover: () => Promise<CgroupHierarchy> = discoverCgroups,
): Promise<CgroupHierarchy | undefined> {
  try {
    return await discover();
  } catch (error) {
    logger.warn({ error: errorMessage(error) }, 'the cgroups of this host cannot be read; containers get no limits');
    return undefined;
  }
}

/**
 * Returns the container runtime's cgroup driver, or `fallback` if the container runtime does not implement RuntimeConfig. Upstream plans to
 * drop support for such runtimes.
 */
export async function runtimeCgroupDriver(
  cri: CriClient,
  { fallback, metrics }: { fallback: 'cgroupfs' | 'systemd'; metrics?: Registry },
): Promise<'cgroupfs' | 'systemd'> {
  try {
    const { linux } = await cri.runtime.runtimeConfig({});
    return linux?.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  } catch (error) {
    if (!isUnimplemented(error)) throw error;
    if (metrics !== undefined) losingSupport(metrics);
    return fallback;
  }
}

function losingSupport(registry: Registry): void {
  const gauge = new Gauge({
    name: 'kubelet_cri_losing_support',
    help: 'the Kubernetes version that the currently running CRI implementation will lose support on if not upgraded.',
    labelNames: ['version'],
    registers: [registry],
  });
  gauge.set({ version: '1.37.0' }, 1);
}
