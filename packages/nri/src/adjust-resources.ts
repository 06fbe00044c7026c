import type { LinuxDeviceCgroup, LinuxResources } from './gen/nri/v1alpha1/container_pb.js';
import type { NriSpecResources } from './oci-spec.ts';
import { toNumber } from './to-number.ts';

type Rule = NonNullable<NriSpecResources['devices']>[number];

/**
 * Applies resources set by plugins. As in containerd, a memory limit also sets the combined limit for memory and swap, unless a plugin sets
 * `swap`. `rules`: device cgroup rules for the devices added by plugins. `adjust`: contains the rules set by plugins themselves.
 */
export function adjustResources(
  current: NriSpecResources,
  adjust: LinuxResources | undefined,
  rules: Rule[],
): NriSpecResources {
  const devices = [...(current.devices ?? []), ...rules, ...(adjust?.devices ?? []).map(ruleOf)];
  const memory = { ...current.memory, ...memoryOf(adjust) };
  const cpu = { ...current.cpu, ...cpuOf(adjust) };
  const limits = new Map((current.hugepageLimits ?? []).map((limit) => [limit.pageSize, limit]));
  for (const { pageSize, limit } of adjust?.hugepageLimits ?? [])
    limits.set(pageSize, { pageSize, limit: toNumber(limit) });
  const unified = { ...current.unified, ...adjust?.unified };
  const pids = adjust?.pids?.limit;
  return {
    ...current,
    ...(devices.length === 0 ? {} : { devices }),
    ...(Object.keys(memory).length === 0 ? {} : { memory }),
    ...(Object.keys(cpu).length === 0 ? {} : { cpu }),
    ...(limits.size === 0 ? {} : { hugepageLimits: [...limits.values()] }),
    ...(Object.keys(unified).length === 0 ? {} : { unified }),
    ...(pids === undefined ? {} : { pids: { limit: toNumber(pids) } }),
  };
}

function memoryOf(adjust: LinuxResources | undefined): NonNullable<NriSpecResources['memory']> {
  const { limit, reservation, swap, kernel, kernelTcp, swappiness, disableOomKiller, useHierarchy } =
    adjust?.memory ?? {};
  const both = swap ?? limit;
  return {
    ...(limit === undefined ? {} : { limit: toNumber(limit.value) }),
    ...(both === undefined ? {} : { swap: toNumber(both.value) }),
    ...(reservation === undefined ? {} : { reservation: toNumber(reservation.value) }),
    ...(kernel === undefined ? {} : { kernel: toNumber(kernel.value) }),
    ...(kernelTcp === undefined ? {} : { kernelTCP: toNumber(kernelTcp.value) }),
    ...(swappiness === undefined ? {} : { swappiness: toNumber(swappiness.value) }),
    ...(disableOomKiller === undefined ? {} : { disableOOMKiller: disableOomKiller.value }),
    ...(useHierarchy === undefined ? {} : { useHierarchy: useHierarchy.value }),
  };
}

function cpuOf(adjust: LinuxResources | undefined): NonNullable<NriSpecResources['cpu']> {
  const { shares, quota, period, realtimeRuntime, realtimePeriod, cpus = '', mems = '' } = adjust?.cpu ?? {};
  return {
    ...(shares === undefined ? {} : { shares: toNumber(shares.value) }),
    ...(quota === undefined ? {} : { quota: toNumber(quota.value) }),
    ...(period === undefined ? {} : { period: toNumber(period.value) }),
    ...(realtimeRuntime === undefined ? {} : { realtimeRuntime: toNumber(realtimeRuntime.value) }),
    ...(realtimePeriod === undefined ? {} : { realtimePeriod: toNumber(realtimePeriod.value) }),
    ...(cpus === '' ? {} : { cpus }),
    ...(mems === '' ? {} : { mems }),
  };
}

function ruleOf({ allow, type, major, minor, access }: LinuxDeviceCgroup): Rule {
  return {
    allow,
    ...(type === '' ? {} : { type }),
    ...(major === undefined ? {} : { major: Number(major.value) }),
    ...(minor === undefined ? {} : { minor: Number(minor.value) }),
    ...(access === '' ? {} : { access }),
  };
}
