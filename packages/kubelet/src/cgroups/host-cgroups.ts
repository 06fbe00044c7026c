import { type CgroupHierarchy, discoverCgroups, errorMessage, isUnimplemented, type Logger } from '@podwright/base';
import { CgroupDriver, type CriClient } from '@podwright/cri';

/** The host's cgroups; `undefined`, with a line in the log why, where there are none: then containers have no limits. */
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

/** Asks the runtime which driver its cgroups have; `fallback` is that of one that cannot say. */
export async function runtimeCgroupDriver(
  cri: CriClient,
  fallback: 'cgroupfs' | 'systemd',
): Promise<'cgroupfs' | 'systemd'> {
  try {
    const { linux } = await cri.runtime.runtimeConfig({});
    return linux?.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  } catch (error) {
    if (isUnimplemented(error)) return fallback;
    throw error;
  }
}
