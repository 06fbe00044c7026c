import { basename, posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { type CgroupHierarchy, type CgroupLimits, cgroupExists, slicePath } from '@podwright/host';
import type { ReservedCgroup } from '@podwright/kubelet-configuration';
import { writeLimits } from './cgroupfs-driver.ts';
import { cpuShares } from './cpu.ts';
import { limitSlice } from './systemd-driver.ts';

export type ReservedCgroupsHost = { hierarchy: CgroupHierarchy | undefined; driver: 'cgroupfs' | 'systemd' };

/** Returns the limits for the kube-reserved or system-reserved cgroup. Under MemoryQoS, its memory is also protected. Pure. */
export function reservedLimits(reserved: ReservedCgroup, isMemoryQosOn: boolean): CgroupLimits {
  const { milliCpu, memoryBytes, pids, compressibleOnly } = reserved;
  const cpu = milliCpu === undefined ? {} : { cpuShares: Number(cpuShares(BigInt(milliCpu))) };
  if (compressibleOnly) return cpu;
  return {
    ...cpu,
    ...(memoryBytes === undefined ? {} : { memoryLimitBytes: memoryBytes }),
    ...(pids === undefined ? {} : { pidsLimit: pids }),
    ...(isMemoryQosOn && memoryBytes !== undefined ? { unified: { 'memory.min': String(memoryBytes) } } : {}),
  };
}

/** Sets limits on an existing host cgroup. Rejects with `failed_precondition` if it does not exist. */
export async function limitReservedCgroup(
  { hierarchy, driver }: ReservedCgroupsHost,
  cgroup: string,
  limits: CgroupLimits,
): Promise<void> {
  if (hierarchy === undefined) throw new PodwrightError('failed_precondition', 'no cgroup tree is mounted');
  const path = driver === 'systemd' ? slicePath(basename(cgroup)) : posix.normalize(`/${cgroup}`);
  if (!(await cgroupExists(hierarchy, path)))
    throw new PodwrightError(
      'failed_precondition',
      `there is no cgroup ${path}; make it before the kubelet is started`,
    );
  if (driver === 'systemd') await limitSlice(hierarchy, basename(path), limits);
  else await writeLimits(hierarchy, path, limits);
}
