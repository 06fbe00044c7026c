/**
 * Uses a slice per pod, under a slice per QoS class, for container runtimes that run containers as systemd scopes. Slices are named as in
 * upstream (cm/cgroup_manager_linux.go, ToSystemd), and systemd applies their limits.
 */
import {
  type CgroupHierarchy,
  type CgroupLimits,
  cgroupExists,
  cpuWeightOfShares,
  createCgroup,
  endSlice,
  killCgroup,
  listChildCgroups,
  type SliceProperties,
  setSlice,
  slicePath,
  treeOf,
} from '@podwright/host';
import type { CgroupDriver, CgroupName } from './cgroup-driver.ts';
import { writeLimits } from './cgroupfs-driver.ts';

export type SystemdDriverInput = {
  /** Name components above the pods' slices: `podwright` and `kubepods` become `podwright-kubepods.slice`. */
  top: string[];
  hierarchy: CgroupHierarchy;
};

export class SystemdDriver implements CgroupDriver {
  readonly #hierarchy: CgroupHierarchy;
  readonly #top: string[];

  constructor({ top, hierarchy }: SystemdDriverInput) {
    this.#hierarchy = hierarchy;
    this.#top = top;
  }

  path(cgroup: CgroupName): string {
    return slicePath(this.#slice(cgroup));
  }

  async set(cgroup: CgroupName, limits: CgroupLimits): Promise<void> {
    await limitSlice(this.#hierarchy, this.#slice(cgroup), limits);
  }

  isThere(cgroup: CgroupName): Promise<boolean> {
    return cgroupExists(this.#hierarchy, this.path(cgroup));
  }

  async remove(cgroup: CgroupName): Promise<void> {
    await endSlice(this.#hierarchy, this.#slice(cgroup));
  }

  /** Kills the cgroup's processes first: stopping a slice stops the units in it, but not processes outside any unit. */
  async end(cgroup: CgroupName): Promise<void> {
    await killCgroup(this.#hierarchy, this.path(cgroup));
    await this.remove(cgroup);
  }

  async children(cgroup: CgroupName): Promise<string[]> {
    const prefix = `${this.#slice(cgroup).slice(0, -'.slice'.length)}-`;
    const slices = await listChildCgroups(this.#hierarchy, this.path(cgroup));
    return slices
      .filter((slice) => slice.startsWith(prefix) && slice.endsWith('.slice'))
      .map((slice) => slice.slice(prefix.length, -'.slice'.length));
  }

  /** Replaces `-` with `_`, as in upstream, because a `-` in a slice name would start another level. */
  written(name: string): string {
    return name.replaceAll('-', '_');
  }

  #slice(cgroup: CgroupName): string {
    return `${[...this.#top, ...cgroup].map(this.written).join('-')}.slice`;
  }
}

/**
 * Creates a slice if it does not exist, and sets its limits. systemd has no property for huge pages, so huge page limits are written
 * directly to the cgroup.
 */
export async function limitSlice(hierarchy: CgroupHierarchy, slice: string, limits: CgroupLimits): Promise<void> {
  await setSlice(slice, sliceProperties(limits));
  const { hugepageLimits = {} } = limits;
  const tree = treeOf(hierarchy, 'hugetlb');
  if (tree === undefined || Object.keys(hugepageLimits).length === 0) return;
  const only = { ...hierarchy, trees: [tree] };
  await createCgroup(only, slicePath(slice));
  await writeLimits(only, slicePath(slice), { hugepageLimits });
}

/** Converts limits to slice properties (org.freedesktop.systemd1(5)). */
export function sliceProperties({ cpuShares, memoryLimitBytes, pidsLimit, unified, ...cpu }: CgroupLimits) {
  const properties: SliceProperties = {};
  if (cpuShares !== undefined) properties.CPUWeight = BigInt(cpuWeightOfShares(cpuShares));
  if (memoryLimitBytes !== undefined) properties.MemoryMax = optional(memoryLimitBytes);
  if (pidsLimit !== undefined) properties.TasksMax = optional(pidsLimit);
  if (unified?.['memory.min'] !== undefined) properties.MemoryMin = BigInt(unified['memory.min']);
  if (unified?.['memory.low'] !== undefined) properties.MemoryLow = BigInt(unified['memory.low']);
  const { cpuQuotaUs, cpuPeriodUs = 100_000 } = cpu;
  if (cpuQuotaUs === undefined) return properties;
  return {
    ...properties,
    CPUQuotaPerSecUSec: cpuQuotaUs < 0 ? undefined : quotaPerSecond(cpuQuotaUs, cpuPeriodUs),
    CPUQuotaPeriodUSec: BigInt(cpuPeriodUs),
  };
}

const optional = (amount: number) => (amount < 0 ? undefined : BigInt(Math.floor(amount)));

/** Rounds the quota up, as OCI runtimes do, because systemd's resolution is a hundredth of a CPU. */
const quotaPerSecond = (quotaUs: number, periodUs: number) =>
  BigInt(Math.ceil((quotaUs * 1_000_000) / periodUs / 10_000) * 10_000);
