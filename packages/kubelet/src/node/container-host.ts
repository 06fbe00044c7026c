/** Host facts that container configurations depend on. */
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { type CgroupHierarchy, cgroupDirectory, namesIn, pathExists, treeOf } from '@podwright/host';

/** Host properties that determine the limits and masked paths of containers. */
export type ContainerHost = {
  /** The host's memory, in bytes. */
  memoryCapacity: bigint;
  /** Memory that all pods together may use, in bytes. */
  allocatableMemory: bigint;
  swapCapacity: bigint;
  /** True if the host uses only cgroup v2. */
  cgroupV2: boolean;
  /** True if the kernel accounts for swap per cgroup. */
  countsSwap: boolean;
  /** Supported huge page sizes in the CRI's notation, such as `2MB`. */
  hugePageSizes: string[];
  /** The lowest oom_score_adj that this process may set; absent if it has CAP_SYS_RESOURCE, which permits any value. */
  leastOomScoreAdj?: bigint;
  selinux: boolean;
  appArmor: boolean;
  /** The thermal throttling directory of each CPU; these are masked in containers. */
  throttleDirectories: string[];
};

/** Mount points of sysfs and procfs. */
export type HostPaths = { sysfs: string; proc: string };

const HOST_PATHS: HostPaths = { sysfs: '/sys', proc: '/proc' };
/** CAP_SYS_RESOURCE's bit in a capability set (capabilities(7)). */
const SYS_RESOURCE = 1n << 24n;

export async function readContainerHost(
  { hierarchy, allocatableMemory }: { hierarchy: CgroupHierarchy | undefined; allocatableMemory: bigint },
  places: HostPaths = HOST_PATHS,
): Promise<ContainerHost> {
  const { sysfs, proc } = places;
  const [meminfo, hugePages, countsSwap, throttleDirectories, selinux, appArmor, leastOomScoreAdj] = await Promise.all([
    readFile(join(proc, 'meminfo'), 'utf8'),
    namesIn(join(sysfs, 'kernel/mm/hugepages')),
    hasSwapFile(hierarchy),
    readThrottleDirectories(sysfs),
    pathExists(join(sysfs, 'fs/selinux/enforce')),
    hasAppArmor(sysfs),
    readLeastOomScoreAdj(proc),
  ]);
  return {
    memoryCapacity: BigInt(totalmem()),
    allocatableMemory,
    swapCapacity: BigInt(/^SwapTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? 0) * 1024n,
    cgroupV2: hierarchy?.mode === 'v2',
    countsSwap,
    hugePageSizes: hugePages.flatMap(hugePageSize),
    ...(leastOomScoreAdj === undefined ? {} : { leastOomScoreAdj }),
    selinux,
    appArmor,
    throttleDirectories,
  };
}

/** Converts `hugepages-2048kB` to `2MB`, the notation of cgroup file names (hugetlb_cgroup.c). */
function hugePageSize(directory: string): string[] {
  const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(directory)?.[1] ?? 0);
  if (kilobytes === 0) return [];
  if (kilobytes >= 1 << 20) return [`${kilobytes >> 20}GB`];
  return [kilobytes >= 1 << 10 ? `${kilobytes >> 10}MB` : `${kilobytes}KB`];
}

/** Whether the kernel accounts for swap. The cgroup v2 root cgroup has no swap file, so this checks the process's own cgroup. */
async function hasSwapFile(hierarchy: CgroupHierarchy | undefined): Promise<boolean> {
  const tree = hierarchy && treeOf(hierarchy, 'memory');
  if (tree === undefined) return false;
  if (hierarchy?.mode !== 'v2') return pathExists(join(cgroupDirectory(tree, '/'), 'memory.memsw.limit_in_bytes'));
  const own = /^0::(.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
  return pathExists(join(cgroupDirectory(tree, own), 'memory.swap.max'));
}

/** Whether the AppArmor module is enabled and profiles can be loaded. */
export async function hasAppArmor(sysfs = HOST_PATHS.sysfs): Promise<boolean> {
  if (!(await pathExists(join(sysfs, 'kernel/security/apparmor')))) return false;
  const enabled = await readFile(join(sysfs, 'module/apparmor/parameters/enabled'), 'utf8').catch(() => '');
  return enabled.startsWith('Y');
}

async function readThrottleDirectories(sysfs: string): Promise<string[]> {
  const cpus = join(sysfs, 'devices/system/cpu');
  const names = (await namesIn(cpus)).filter((name) => /^cpu\d+$/.test(name));
  const paths = names.map((name) => ({ place: join(cpus, name, 'thermal_throttle'), name }));
  const there = await Promise.all(paths.map(({ place }) => pathExists(place)));
  return paths
    .filter((_, index) => there[index])
    .map(({ name }) => `/sys/devices/system/cpu/${name}/thermal_throttle`)
    .toSorted((a, b) => cpuNumber(a) - cpuNumber(b));
}

function cpuNumber(path: string): number {
  return Number(/\d+/.exec(path)![0]);
}

/** Returns this process's oom_score_adj, the lowest value that the process may set without CAP_SYS_RESOURCE (proc_pid_oom_score_adj(5)). */
async function readLeastOomScoreAdj(proc: string): Promise<bigint | undefined> {
  const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readFile(join(proc, 'self/status'), 'utf8'))?.[1] ?? '0';
  if ((BigInt(`0x${capabilities}`) & SYS_RESOURCE) !== 0n) return undefined;
  return BigInt((await readFile(join(proc, 'self/oom_score_adj'), 'utf8')).trim());
}
