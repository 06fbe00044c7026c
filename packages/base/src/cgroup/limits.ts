import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, isErrno, wrapError } from '../errors.ts';
import { type CgroupHierarchy, type CgroupTree, cgroupDirectory, treeOf } from './hierarchy.ts';

/** Limits of a cgroup; absent ones are left as they are, -1 is unlimited. */
export type CgroupLimits = {
  /** Weight against other cgroups, 2 to 262144, in v1's units. */
  cpuShares?: number;
  /** Microseconds of CPU time in each period. */
  cpuQuotaUs?: number;
  cpuPeriodUs?: number;
  cpusetCpus?: string;
  cpusetMems?: string;
  memoryLimitBytes?: number;
  /** Memory and swap together, as v1 counts. */
  memorySwapLimitBytes?: number;
  pidsLimit?: number;
  /** Bytes of huge pages by page size (`2MB`). */
  hugepageLimits?: Record<string, number>;
  /** Files of v2 with their content, written last; ignored without a v2 tree that has the controller. */
  unified?: Record<string, string>;
};

/** One file of a cgroup to write. */
export type CgroupWrite = { tree: CgroupTree; file: string; value: string };

/** The period that the kernel starts with. */
const DEFAULT_PERIOD_US = 100_000;

/**
 * v2's weight (1 to 10000) for v1's shares (2 to 262144), as the OCI runtimes and the kubelet convert: both ranges are
 * mapped linearly, so the default of 1024 becomes 39.
 */
export function cpuWeightOfShares(shares: number): number {
  const bounded = Math.min(Math.max(shares, 2), 262_144);
  return Math.floor(1 + ((bounded - 2) * 9999) / 262_142);
}

/** The files to write, in order. Limits of controllers that the host lacks are left out. Pure. */
export function limitWrites(hierarchy: CgroupHierarchy, limits: CgroupLimits): CgroupWrite[] {
  const writes = Object.entries(controllerFiles).flatMap(([controller, files]) => {
    const tree = treeOf(hierarchy, controller);
    if (tree === undefined) return [];
    const wanted = tree.version === 1 ? files.v1(limits) : files.v2(limits);
    return wanted.flatMap(([file, value]) => (value === undefined ? [] : [{ tree, file, value }]));
  });
  const unified = Object.entries(limits.unified ?? {}).flatMap(([file, value]) => {
    const tree = treeOf(hierarchy, file.split('.', 1)[0]!);
    return tree?.version === 2 ? [{ tree, file, value }] : [];
  });
  return [...writes, ...unified];
}

/** Sets limits of a cgroup that is there. An error names the file and the value that the kernel refused. */
export async function setCgroupLimits(hierarchy: CgroupHierarchy, path: string, limits: CgroupLimits): Promise<void> {
  const deferred: CgroupWrite[] = [];
  for (const write of limitWrites(hierarchy, limits)) {
    // v1's limit of memory may not go above that of memory and swap, which may be raised by a later write.
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

/** v2 counts swap alone. Without a limit of memory, a limit of both cannot be expressed and is left out. */
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

/** False for a value that the kernel refused; other errors are thrown on. */
function refusedValue(error: unknown): false {
  if (errorCode(error) === 'invalid_argument') return false;
  throw error;
}
