import { PodwrightError } from '@podwright/base';
import type { CgroupDriver } from '@podwright/host';
import type { EngineInfo } from '../engine/engine-types.ts';

/** Returns the Engine's cgroup driver. Throws `failed_precondition` if it is unknown or differs from the kubelet's. */
export function cgroupDriverOf(
  { CgroupDriver: reported }: Pick<EngineInfo, 'CgroupDriver'>,
  wanted?: CgroupDriver,
): CgroupDriver {
  const driver = reported === '' ? 'cgroupfs' : reported;
  if (driver !== 'cgroupfs' && driver !== 'systemd') {
    throw new PodwrightError(
      'failed_precondition',
      `use the Docker Engine's cgroup driver "${driver}": only cgroupfs and systemd can hold pods`,
    );
  }
  if (wanted === undefined || wanted === driver) return driver;
  throw new PodwrightError(
    'failed_precondition',
    `use cgroup driver "${wanted}": the Docker Engine's is "${driver}"; leave cgroup_driver out, or set "exec-opts": ["native.cgroupdriver=${wanted}"] in /etc/docker/daemon.json`,
  );
}
