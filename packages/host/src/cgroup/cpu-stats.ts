import type { CgroupHierarchy } from './hierarchy.ts';
import { keyed, type StatsFiles, statsFilesOf } from './stats-files.ts';

export type CpuStats = {
  usageNanoseconds: number;
  userNanoseconds: number;
  systemNanoseconds: number;
  /**
   * Number of elapsed CPU quota periods (`nr_periods`). `throttledPeriods` counts the ones in which the cgroup was throttled
   * (`nr_throttled`).
   */
  periods: number;
  throttledPeriods: number;
  throttledNanoseconds: number;
};

/**
 * Reads CPU time: from `cpu.stat` in cgroup v2 (cgroup-v2.rst); in v1 from the cpuacct files, with the throttling counters from `cpu.stat`.
 */
export function readCpuStats(hierarchy: CgroupHierarchy, path: string): CpuStats | undefined {
  const cpu = statsFilesOf(hierarchy, path, 'cpu');
  return cpu?.version === 2 ? readV2(cpu) : readV1({ cpu, accounting: statsFilesOf(hierarchy, path, 'cpuacct') });
}

function readV2(cpu: StatsFiles): CpuStats | undefined {
  const stat = keyed(cpu.read('cpu.stat'));
  if (stat.usage_usec === undefined) return undefined;
  return {
    usageNanoseconds: stat.usage_usec * 1000,
    userNanoseconds: (stat.user_usec ?? 0) * 1000,
    systemNanoseconds: (stat.system_usec ?? 0) * 1000,
    periods: stat.nr_periods ?? 0,
    throttledPeriods: stat.nr_throttled ?? 0,
    throttledNanoseconds: (stat.throttled_usec ?? 0) * 1000,
  };
}

function readV1({
  cpu,
  accounting,
}: {
  cpu: StatsFiles | undefined;
  accounting: StatsFiles | undefined;
}): CpuStats | undefined {
  const names = ['cpuacct.usage', 'cpuacct.usage_user', 'cpuacct.usage_sys'];
  const [usage, user, system] = names.map((name) => accounting?.readNumber(name));
  if (usage === undefined) return undefined;
  const stat = keyed(cpu?.read('cpu.stat') ?? '');
  return {
    usageNanoseconds: usage,
    userNanoseconds: user ?? 0,
    systemNanoseconds: system ?? 0,
    periods: stat.nr_periods ?? 0,
    throttledPeriods: stat.nr_throttled ?? 0,
    throttledNanoseconds: stat.throttled_time ?? 0,
  };
}
