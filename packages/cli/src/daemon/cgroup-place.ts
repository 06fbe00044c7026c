import { createLogger, errorMessage, PodwrightError } from '@podwright/base';
import {
  type CgroupDriver,
  delegateCgroup,
  delegatedUnit,
  discoverCgroups,
  endDelegation,
  isSystemdHost,
  systemdObstacle,
} from '@podwright/host';
import { CgroupClaim } from '@podwright/kubelet';
import type { NodeConfig } from '../settings/node-config.ts';

/** The cgroup driver, and the cgroup above all pods: `cgroup_parent`, or the one that systemd has delegated instead. */
export type CgroupPlace = { cgroupDriver: CgroupDriver; cgroupParent: string };

/** The settings for cgroups. */
type CgroupSettings = Pick<NodeConfig, 'cgroup_parent' | 'log_level'> & {
  runtime: Pick<NodeConfig['runtime'], 'cgroup_driver'>;
};

/**
 * Chooses the driver for these settings on this host, and gives the reason. Throws `failed_precondition` if the configured driver cannot
 * work.
 */
export function chooseCgroupDriver(
  requested: NodeConfig['runtime']['cgroup_driver'],
  host: Parameters<typeof systemdObstacle>[0],
): { driver: CgroupDriver; reason: string } {
  if (requested === 'cgroupfs') return { driver: 'cgroupfs', reason: 'set in the configuration' };
  const obstacle = systemdObstacle(host);
  if (obstacle === undefined)
    return {
      driver: 'systemd',
      reason: requested === 'auto' ? 'systemd is the init process, with cgroup v2 alone' : 'set in the configuration',
    };
  if (requested === 'auto') return { driver: 'cgroupfs', reason: obstacle };
  throw new PodwrightError(
    'failed_precondition',
    `use runtime.cgroup_driver = "systemd": ${obstacle}; set it to "auto" or "cgroupfs"`,
  );
}

/**
 * Finds or creates the parent of a node's cgroups. If systemd delegates no cgroup and its driver is not required by the configuration,
 * falls back to cgroupfs with a warning.
 */
export async function openCgroupPlace(config: CgroupSettings): Promise<CgroupPlace> {
  const { cgroup_parent: cgroupParent } = config;
  const { cgroup_driver: requested } = config.runtime;
  const cgroupfs: CgroupPlace = { cgroupDriver: 'cgroupfs', cgroupParent };
  if (requested === 'cgroupfs') return cgroupfs;
  const logger = createLogger({ name: 'cgroups', level: config.log_level });
  const cgroups = await discoverCgroups();
  const { driver, reason } = chooseCgroupDriver(requested, { systemd: isSystemdHost(), mode: cgroups.mode });
  logger.info({ driver, reason }, 'cgroup driver');
  if (driver === 'cgroupfs') return cgroupfs;
  try {
    const parent = await delegateCgroup(cgroups, delegatedUnit(cgroupParent), logger);
    return { cgroupDriver: 'systemd', cgroupParent: parent };
  } catch (error) {
    if (requested === 'systemd') throw error;
    logger.warn({ error: errorMessage(error) }, 'systemd delegates no cgroup; the driver is cgroupfs');
    return cgroupfs;
  }
}

/** Claims the cgroup for this node until its process exits. Rejects with `already_exists` while another node holds it. */
export async function claimCgroupPlace({ cgroupParent }: CgroupPlace): Promise<void> {
  if (await new CgroupClaim(cgroupParent).isOurs()) return;
  throw new PodwrightError(
    'already_exists',
    `start a node: another running node uses the cgroup ${cgroupParent}; a second node needs its own values of root, state, ` +
      'cgroup_parent and, in [network], bridge and subnet (--root, --state, --cgroup-parent, --bridge, --subnet)',
  );
}

/** Ends systemd's delegation to a node that has no pods. */
export async function closeCgroupPlace({ cgroupDriver, cgroupParent }: CgroupPlace): Promise<void> {
  if (cgroupDriver === 'systemd') await endDelegation(await discoverCgroups(), cgroupParent);
}
