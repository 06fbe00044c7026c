import type { ContainerAdjustment } from './gen/nri/v1alpha1/adjustment_pb.js';
import { isRemoval } from './removal.ts';

/** Capabilities of the host and its OCI runtime that adjustments may depend on. */
export type AdjustableHost = {
  /** The latest runtime-spec version implemented by the OCI runtime, such as `1.1.0`. */
  ociVersion: string;
  /** Version of the cgroups that contain the containers; 1 on a hybrid host. */
  cgroupVersion: 1 | 2;
  hugetlb: boolean;
  /** Whether memory plus swap can be limited. */
  swapLimit: boolean;
  /** Whether the resctrl file system is mounted. */
  rdt: boolean;
};

/**
 * Returns the names of adjusted settings that the host or its OCI runtime does not support. They must be rejected, because OCI runtimes
 * ignore unknown settings. Block I/O classes are never supported, because this runtime has no configuration for them; nor are kernel memory
 * limits, which runc ignores and Linux has removed.
 */
export function unsupportedSettings({ linux }: ContainerAdjustment, host: AdjustableHost): string[] {
  const [major = 1, minor = 0] = host.ociVersion.split('.').map(Number);
  const implementsMinor = (needed: number) => major > 1 || minor >= needed;
  const { memory, cpu, unified = {} } = linux?.resources ?? {};
  const isV1 = host.cgroupVersion === 1;
  const settings: [name: string, isSet: boolean, isSupported: boolean][] = [
    ['block I/O class', (linux?.resources?.blockioClass?.value ?? '') !== '', false],
    ['RDT class', (linux?.resources?.rdtClass?.value ?? '') !== '', host.rdt],
    ['RDT', linux?.rdt !== undefined && !linux.rdt.remove, host.rdt],
    ['huge page limit', (linux?.resources?.hugepageLimits.length ?? 0) > 0, host.hugetlb],
    ['files of cgroup v2', Object.keys(unified).length > 0, !isV1],
    ['swap limit', memory?.swap !== undefined, host.swapLimit],
    ['kernel memory limit', memory?.kernel !== undefined, false],
    ['kernel TCP memory limit', memory?.kernelTcp !== undefined, isV1],
    ['swappiness', memory?.swappiness !== undefined, isV1],
    ['disabling the OOM killer', memory?.disableOomKiller?.value === true, isV1],
    ['memory without hierarchy', memory?.useHierarchy?.value === false, false],
    ['realtime CPU time', (cpu?.realtimeRuntime ?? cpu?.realtimePeriod) !== undefined, isV1],
    ['I/O priority', linux?.ioPriority !== undefined, implementsMinor(1)],
    ['scheduler', linux?.scheduler !== undefined, implementsMinor(1)],
    ['network devices', !Object.keys(linux?.netDevices ?? {}).every(isRemoval), implementsMinor(3)],
    ['memory policy', linux?.memoryPolicy !== undefined, implementsMinor(3)],
  ];
  return settings.flatMap(([name, isSet, isSupported]) => (isSet && !isSupported ? [name] : []));
}
