/** Facts about the host that the configurations of containers depend on. */
import { access, readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { type CgroupHierarchy, cgroupDirectory, namesIn, treeOf } from '@podwright/base';

/** What of the host a container's limits and masks depend on. */
export type ContainerHost = {
  /** Bytes of memory. */
  memoryCapacity: bigint;
  /** Bytes of memory that pods may use together. */
  allocatableMemory: bigint;
  swapCapacity: bigint;
  /** The host has cgroup v2 alone. */
  cgroupV2: boolean;
  /** The kernel counts swap by cgroup. */
  countsSwap: boolean;
  /** Sizes of huge pages that there are, as the CRI names them: `2MB`. */
  hugePageSizes: string[];
  /** The lowest oom_score_adj that may be given out; absent with CAP_SYS_RESOURCE. */
  leastOomScoreAdj?: bigint;
  selinux: boolean;
  appArmor: boolean;
  /** Directories that tell how each CPU is throttled, which a container must not see. */
  throttleDirectories: string[];
};

/** `sysfs` and `proc` are where these file systems are. */
export type HostPlaces = { sysfs: string; proc: string };

const HOST_PLACES: HostPlaces = { sysfs: '/sys', proc: '/proc' };
/** CAP_SYS_RESOURCE's bit of a set of capabilities (capabilities(7)). */
const SYS_RESOURCE = 1n << 24n;

export async function readContainerHost(
  { hierarchy, allocatableMemory }: { hierarchy: CgroupHierarchy | undefined; allocatableMemory: bigint },
  places: HostPlaces = HOST_PLACES,
): Promise<ContainerHost> {
  const { sysfs, proc } = places;
  const [meminfo, hugePages, countsSwap, throttleDirectories, selinux, appArmor, leastOomScoreAdj] = await Promise.all([
    readFile(join(proc, 'meminfo'), 'utf8'),
    namesIn(join(sysfs, 'kernel/mm/hugepages')),
    hasSwapFile(hierarchy),
    readThrottleDirectories(sysfs),
    exists(join(sysfs, 'fs/selinux/enforce')),
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

/** `hugepages-2048kB` as `2MB`: the name that the files of cgroups have (hugetlb_cgroup.c). */
function hugePageSize(directory: string): string[] {
  const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(directory)?.[1] ?? 0);
  if (kilobytes === 0) return [];
  if (kilobytes >= 1 << 20) return [`${kilobytes >> 20}GB`];
  return [kilobytes >= 1 << 10 ? `${kilobytes >> 10}MB` : `${kilobytes}KB`];
}

/** The root of a tree of cgroup v2 has no such file, so ours is looked at. */
async function hasSwapFile(hierarchy: CgroupHierarchy | undefined): Promise<boolean> {
  const tree = hierarchy && treeOf(hierarchy, 'memory');
  if (tree === undefined) return false;
  if (hierarchy?.mode !== 'v2') return exists(join(cgroupDirectory(tree, '/'), 'memory.memsw.limit_in_bytes'));
  const own = /^0::(.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
  return exists(join(cgroupDirectory(tree, own), 'memory.swap.max'));
}

/** The module is enabled, and profiles can be loaded. */
export async function hasAppArmor(sysfs = HOST_PLACES.sysfs): Promise<boolean> {
  if (!(await exists(join(sysfs, 'kernel/security/apparmor')))) return false;
  const enabled = await readFile(join(sysfs, 'module/apparmor/parameters/enabled'), 'utf8').catch(() => '');
  return enabled.startsWith('Y');
}

async function readThrottleDirectories(sysfs: string): Promise<string[]> {
  const cpus = join(sysfs, 'devices/system/cpu');
  const names = (await namesIn(cpus)).filter((name) => /^cpu\d+$/.test(name));
  const paths = names.map((name) => ({ place: join(cpus, name, 'thermal_throttle'), name }));
  const there = await Promise.all(paths.map(({ place }) => exists(place)));
  return paths
    .filter((_, index) => there[index])
    .map(({ name }) => `/sys/devices/system/cpu/${name}/thermal_throttle`)
    .toSorted((a, b) => cpuNumber(a) - cpuNumber(b));
}

function cpuNumber(path: string): number {
  return Number(/\d+/.exec(path)![0]);
}

/** Without CAP_SYS_RESOURCE nobody can be given less than we have ourselves (proc_pid_oom_score_adj(5)). */
async function readLeastOomScoreAdj(proc: string): Promise<bigint | undefined> {
  const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readFile(join(proc, 'self/status'), 'utf8'))?.[1] ?? '0';
  if ((BigInt(`0x${capabilities}`) & SYS_RESOURCE) !== 0n) return undefined;
  return BigInt((await readFile(join(proc, 'self/oom_score_adj'), 'utf8')).trim());
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
