import { join } from 'node:path';
import { errorMessage, type Logger, PodwrightError, type Registry } from '@podwright/base';
import type { CgroupHierarchy } from '@podwright/host';
import { measuredDriver } from './cgroup-metrics.ts';
import { CgroupfsDriver } from './cgroupfs-driver.ts';
import { KubeletCgroups, type KubeletCgroupsSettings } from './kubelet-cgroups.ts';
import { noPodCgroups, type PodCgroups } from './pod-cgroups.ts';
import { SystemdDriver } from './systemd-driver.ts';

export type PodCgroupsInput = {
  /** The parent cgroup of `kubepods`; '' to leave cgroups to the container runtime. */
  root: string;
  driver: 'cgroupfs' | 'systemd';
  /** The host's cgroup hierarchy; `undefined` on a host without cgroups. */
  hierarchy: CgroupHierarchy | undefined;
  settings: KubeletCgroupsSettings;
  logger: Logger;
  metrics?: Registry;
};

/**
 * Opens the pods' cgroups under `<root>/kubepods`. They are slices if the container runtime's cgroup driver is systemd. If cgroups cannot
 * be created, logs the reason and returns `noPodCgroups`.
 */
export async function openPodCgroups(input: PodCgroupsInput): Promise<PodCgroups> {
  const { root, hierarchy, settings, logger, metrics } = input;
  if (root === '') return noPodCgroups;
  try {
    if (hierarchy === undefined) throw new PodwrightError('failed_precondition', 'no cgroup tree is mounted');
    const top = [...root.split('/').filter((name) => name !== ''), 'kubepods'];
    const own =
      input.driver === 'systemd'
        ? new SystemdDriver({ top, hierarchy })
        : new CgroupfsDriver({ hierarchy, root: join('/', ...top), logger });
    const driver = metrics === undefined ? own : measuredDriver(own, metrics);
    const cgroups = new KubeletCgroups({ driver, hierarchy, settings, logger });
    await cgroups.prepare();
    return cgroups;
  } catch (error) {
    logger.warn({ root, error: errorMessage(error) }, 'cgroups cannot be used; pods get no cgroup of their own');
    return noPodCgroups;
  }
}
