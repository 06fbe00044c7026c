import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, isErrno, wrapError } from '@podwright/base';
import { type CgroupHierarchy, type CgroupTree, cgroupDirectory, treeOf } from './hierarchy.ts';

/** Resource limits of a cgroup. Omitted limits are left unchanged; -1 means unlimited. */
export type CgroupLimits = {
  /** Relative CPU weight, 2 to 262144, in v1's units (`cpu.shares`). */
  cpuShares?: number;
  /** CPU quota: microseconds of CPU time per period. */
  cpuQuotaUs?: number;
  cpuPeriodUs?: number;
  cpusetCpus?: string;
  cpusetMems?: string;
  memoryLimitBytes?: number;
  /** Limit of memory plus swap, as in v1's `memory.memsw.limit_in_bytes`. */
  memorySwapLimitBytes?: number;
  pidsLimit?: number;
  /** Huge page limits in bytes, by page size (such as `2MB`). */
  hugepageLimits?: Record<string, number>;
  /**
   * Contents of cgroup v2 files by file name, written after the other limits. A file is ignored if its controller is not in the v2
   * hierarchy.
   */
  unified?: Record<string, string>;
};

/** A value to write to one of a cgroup's files, in order to set a limit. */
export type CgroupWrite = { tree: CgroupTree; file: string; value: string };

/** The kernel's default CPU period. */
const DEFAULT_PERIOD_US = 100_000;

/**
 * Converts cgroup v1 CPU shares (2 to 262144) to a v2 weight (1 to 10000) the way OCI runtimes and the kubelet do: the mapping is linear,
 * so the default of 1024 becomes 39.
 */
export function cpuWeightOfShares(shares: number): number {
  const bounded = Math.min(Math.max(shares, 2), 262_144);
  return Math.floor(1 + ((bounded - 2) * 9999) / 262_142);
}

/** Returns the file writes that set these limits, in order. Limits whose controllers the host lacks are ignored. Pure. */
export function limitWrites(hierarchy: CgroupHierarchy, limits: CgroupLimits): CgroupWrite[] {
  const writes = Object.entries(controllerFiles).flatMap(([controller, files]) => {
    const tree = treeOf(hierarchy, controller);
    if (tree === undefined) return [];
    const values = tree.version === 1 ? files.v1(limits) : files.v2(limits);
    return values.flatMap(([file, value]) => (value === undefined ? [] : [{ tree, file, value }]));
  });
  const unified = Object.entries(limits.unified ?? {}).flatMap(([file, value]) => {
    const tree = treeOf(hierarchy, file.split('.', 1)[0]!);
    return tree?.version === 2 ? [{ tree, file, value }] : [];
  });
  return [...writes, ...unified];
}

/** Sets the limits of an existing cgroup. Errors name the file and the value that the kernel rejected. */
export async function setCgroupLimits(hierarchy: CgroupHierarchy, path: string, limits: CgroupLimits): Promise<void> {
  const deferred: CgroupWrite[] = [];
  for (const write of limitWrites(hierarchy, limits)) {
    // v1 rejects a memory limit above the memory+swap limit, which a later write might raise, so retry this write last
    if (write.file !== 'memory.limit_in_bytes') await applyWrite(path, write);
    else if (!(await applyWrite(path, write).then(() => true, refusedValue))) deferred.push(write);
  }
  for (const write of deferred) await applyWrite(path, write);
}

type FileValues = [file: string, value: string | undefined][];

const controllerFiles: Record<string, Record<'v1' | 'v2', (limits: CgroupLimits) => FileValues>> = {
  cpu: {
    v1: (limits) => [
      ['cpu.shares', text(limits.cpuShares)],
      ['cpu.cfs_period_us', text(limits.cpuPeriodUs)],
      ['cpu.cfs_quota_us', text(limits.cpuQuotaUs)],
    ],
    v2: (limits) => [
      ['cpu.weight', limits.cpuShares === undefined ? undefined : String(cpuWeightOfShares(limits.cpuShares))],
      ['cpu.max', cpuMax(limits)],
    ],
  },
  cpuset: {
    v1: (limits) => cpuset(limits),
    v2: (limits) => cpuset(limits),
  },
  memory: {
    v1: (limits) => [
      ['memory.limit_in_bytes', text(limits.memoryLimitBytes)],
      ['memory.memsw.limit_in_bytes', text(limits.memorySwapLimitBytes)],
    ],
    v2: (limits) => [
      ['memory.max', text(limits.memoryLimitBytes, 'max')],
      ['memory.swap.max', swapMax(limits)],
    ],
  },
  pids: {
    v1: (limits) => [['pids.max', text(limits.pidsLimit, 'max')]],
    v2: (limits) => [['pids.max', text(limits.pidsLimit, 'max')]],
  },
  hugetlb: {
    v1: (limits) => hugepages(limits, 'limit_in_bytes'),
    v2: (limits) => hugepages(limits, 'max'),
  },
};

const text = (value: number | undefined, unlimited = '-1') =>
  value === undefined ? undefined : value < 0 ? unlimited : String(value);

const cpuset = ({ cpusetCpus, cpusetMems }: CgroupLimits): FileValues => [
  ['cpuset.cpus', cpusetCpus],
  ['cpuset.mems', cpusetMems],
];

const hugepages = ({ hugepageLimits = {} }: CgroupLimits, suffix: string): FileValues =>
  Object.entries(hugepageLimits).map(([size, bytes]) => [`hugetlb.${size}.${suffix}`, String(bytes)]);

function cpuMax({ cpuQuotaUs, cpuPeriodUs }: CgroupLimits): string | undefined {
  if (cpuQuotaUs === undefined && cpuPeriodUs === undefined) return undefined;
  return `${text(cpuQuotaUs ?? -1, 'max')} ${cpuPeriodUs ?? DEFAULT_PERIOD_US}`;
}

/**
 * Converts a memory+swap limit to v2's swap limit, which excludes memory. A memory+swap limit without a memory limit cannot be expressed in
 * v2 and is ignored.
 */
function swapMax({ memoryLimitBytes, memorySwapLimitBytes }: CgroupLimits): string | undefined {
  if (memorySwapLimitBytes === undefined) return undefined;
  if (memorySwapLimitBytes < 0) return 'max';
  if (memoryLimitBytes === undefined || memoryLimitBytes < 0) return undefined;
  return String(Math.max(0, memorySwapLimitBytes - memoryLimitBytes));
}

async function applyWrite(path: string, { tree, file, value }: CgroupWrite): Promise<void> {
  const target = join(cgroupDirectory(tree, path), file);
  try {
    await writeFile(target, value, { flag: 'r+' });
  } catch (error) {
    throw wrapError(`write ${value} to ${target}`, error, isErrno(error, 'EINVAL') ? 'invalid_argument' : 'internal');
  }
}

/** Returns false if the error means that the kernel rejected the value; rethrows any other error. */
function refusedValue(error: unknown): false {
  if (errorCode(error) === 'invalid_argument') return false;
  throw error;
}
