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

/** The cgroup driver and the parent cgroup of all pods, which is either `cgroup_parent` or the cgroup delegated by systemd. */
export type CgroupPlace = { cgroupDriver: CgroupDriver; cgroupParent: string };

type CgroupSettings = Pick<NodeConfig, 'cgroup_parent' | 'log_level'> & {
  runtime: Pick<NodeConfig['runtime'], 'cgroup_driver'>;
};

/**
 * Chooses the cgroup driver for these settings on this host, and explains the choice. Throws `failed_precondition` if the configured driver
 * cannot work here.
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
 * Finds or creates the parent of a node's cgroups. If systemd does not delegate a cgroup, falls back to cgroupfs with a warning, unless the
 * configuration requires the systemd driver.
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

/** Claims the parent cgroup for this node until the process exits. Rejects with `already_exists` if another node has claimed it. */
export async function claimCgroupPlace({ cgroupParent }: CgroupPlace): Promise<void> {
  if (await new CgroupClaim(cgroupParent).isOurs()) return;
  throw new PodwrightError(
    'already_exists',
    `start a node: another running node uses the cgroup ${cgroupParent}; a second node needs its own values of root, state, ` +
      'cgroup_parent and, in [network], bridge and subnet (--root, --state, --cgroup-parent, --bridge, --subnet)',
  );
}

/** Ends systemd's cgroup delegation for a node that has no pods left. */
export async function closeCgroupPlace({ cgroupDriver, cgroupParent }: CgroupPlace): Promise<void> {
  if (cgroupDriver === 'systemd') await endDelegation(await discoverCgroups(), cgroupParent);
}
