import { join } from 'node:path';
import { type CgroupHierarchy, cgroupDirectory, readCgroupFile, treeOf } from './hierarchy.ts';

/** What a cgroup with all below it uses, the same from v1, v2 and hybrid hosts. Parts that the host does not count are absent. */
export type CgroupStats = {
  readAtMs: number;
  cpu?: CpuStats;
  memory?: MemoryStats;
  pids?: { current: number; limit: number | undefined };
  io?: { readBytes: number; writeBytes: number; reads: number; writes: number };
  /** Pressure stall information; v2 alone has it. */
  pressure?: Partial<Record<'cpu' | 'memory' | 'io', PressureStats>>;
};

export type CpuStats = {
  usageNanoseconds: number;
  userNanoseconds: number;
  systemNanoseconds: number;
  periods: number;
  throttledPeriods: number;
  throttledNanoseconds: number;
};

export type MemoryStats = {
  usageBytes: number;
  /** Usage less the file cache that can be given back at once: what the kubelet decides evictions by. */
  workingSetBytes: number;
  /** Anonymous memory. */
  rssBytes: number;
  cacheBytes: number;
  mappedFileBytes: number;
  swapBytes: number;
  limitBytes: number | undefined;
  /** Limit of memory and swap together, `undefined` for none. */
  swapLimitBytes: number | undefined;
  pageFaults: number;
  majorPageFaults: number;
};

export type PressureStats = Partial<
  Record<'some' | 'full', { avg10: number; avg60: number; avg300: number; totalMicroseconds: number }>
>;

/** Reads a cgroup's use. A cgroup that is gone gives a value without parts. */
export async function readCgroupStats(hierarchy: CgroupHierarchy, path: string): Promise<CgroupStats> {
  const [cpu, memory, pids, io, pressure] = await Promise.all([
    readCpu(hierarchy, path),
    readMemory(hierarchy, path),
    readPids(hierarchy, path),
    readIo(hierarchy, path),
    readPressure(hierarchy, path),
  ]);
  return { readAtMs: Date.now(), cpu, memory, pids, io, pressure };
}

/** Reads files of the cgroup in the tree that has `controller`: their texts, '' for those that are not there. */
type Files = { version: 1 | 2; read(name: string): Promise<string> };

function filesOf(hierarchy: CgroupHierarchy, path: string, controller: string): Files | undefined {
  const tree = treeOf(hierarchy, controller);
  if (tree === undefined) return undefined;
  const directory = cgroupDirectory(tree, path);
  return { version: tree.version, read: async (name) => (await readCgroupFile(join(directory, name))) ?? '' };
}

async function readCpu(hierarchy: CgroupHierarchy, path: string): Promise<CpuStats | undefined> {
  const cpu = filesOf(hierarchy, path, 'cpu');
  if (cpu?.version === 2) {
    const stat = keyed(await cpu.read('cpu.stat'));
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
  const accounting = filesOf(hierarchy, path, 'cpuacct');
  const names = ['cpuacct.usage', 'cpuacct.usage_user', 'cpuacct.usage_sys'];
  const [usage, user, system] = await Promise.all(names.map(async (name) => number(await accounting?.read(name))));
  if (usage === undefined) return undefined;
  const stat = keyed((await cpu?.read('cpu.stat')) ?? '');
  return {
    usageNanoseconds: usage,
    userNanoseconds: user ?? 0,
    systemNanoseconds: system ?? 0,
    periods: stat.nr_periods ?? 0,
    throttledPeriods: stat.nr_throttled ?? 0,
    throttledNanoseconds: stat.throttled_time ?? 0,
  };
}

async function readMemory(hierarchy: CgroupHierarchy, path: string): Promise<MemoryStats | undefined> {
  const files = filesOf(hierarchy, path, 'memory');
  return files?.version === 2 ? await readMemoryV2(files) : files && (await readMemoryV1(files));
}

async function readMemoryV1({ read }: Files): Promise<MemoryStats | undefined> {
  const names = ['usage_in_bytes', 'limit_in_bytes', 'memsw.usage_in_bytes', 'memsw.limit_in_bytes'];
  const [text, ...values] = await Promise.all([read('memory.stat'), ...names.map((name) => read(`memory.${name}`))]);
  const [usage, limit, both, bothLimit] = values.map(number);
  if (usage === undefined) return undefined;
  const stat = keyed(text);
  return {
    usageBytes: usage,
    workingSetBytes: Math.max(0, usage - (stat.total_inactive_file ?? 0)),
    rssBytes: stat.total_rss ?? 0,
    cacheBytes: stat.total_cache ?? 0,
    mappedFileBytes: stat.total_mapped_file ?? 0,
    swapBytes: both === undefined ? 0 : Math.max(0, both - usage),
    limitBytes: bounded(limit),
    swapLimitBytes: bounded(bothLimit),
    pageFaults: stat.total_pgfault ?? 0,
    majorPageFaults: stat.total_pgmajfault ?? 0,
  };
}

async function readMemoryV2({ read }: Files): Promise<MemoryStats | undefined> {
  const names = ['current', 'max', 'swap.current', 'swap.max'];
  const [text, ...values] = await Promise.all([read('memory.stat'), ...names.map((name) => read(`memory.${name}`))]);
  const [usage, limit, swap, swapLimit] = values.map(number);
  const stat = keyed(text);
  // The root cgroup has no memory.current: what its parts sum up to comes close.
  const used = usage ?? (stat.anon === undefined ? undefined : stat.anon + (stat.file ?? 0));
  if (used === undefined) return undefined;
  const limitBytes = bounded(limit);
  return {
    usageBytes: used,
    workingSetBytes: Math.max(0, used - (stat.inactive_file ?? 0)),
    rssBytes: stat.anon ?? 0,
    cacheBytes: stat.file ?? 0,
    mappedFileBytes: stat.file_mapped ?? 0,
    swapBytes: swap ?? 0,
    limitBytes,
    swapLimitBytes: limitBytes === undefined || swapLimit === undefined ? undefined : limitBytes + swapLimit,
    pageFaults: stat.pgfault ?? 0,
    majorPageFaults: stat.pgmajfault ?? 0,
  };
}

async function readPids(hierarchy: CgroupHierarchy, path: string): Promise<CgroupStats['pids']> {
  const files = filesOf(hierarchy, path, 'pids');
  const current = number(await files?.read('pids.current'));
  return current === undefined ? undefined : { current, limit: number(await files?.read('pids.max')) };
}

async function readIo(hierarchy: CgroupHierarchy, path: string): Promise<CgroupStats['io']> {
  const v2 = filesOf(hierarchy, path, 'io');
  if (v2?.version === 2) {
    const text = await v2.read('io.stat');
    const sum = (key: string) => total(text.matchAll(new RegExp(`\\b${key}=(\\d+)`, 'g')));
    return { readBytes: sum('rbytes'), writeBytes: sum('wbytes'), reads: sum('rios'), writes: sum('wios') };
  }
  const v1 = filesOf(hierarchy, path, 'blkio');
  if (v1 === undefined) return undefined;
  const names = ['io_service_bytes', 'io_serviced'];
  const read = (name: string) => v1.read(`blkio.throttle.${name}_recursive`);
  const [bytes, operations] = await Promise.all(names.map(read));
  const sum = (text: string | undefined, kind: string) =>
    total((text ?? '').matchAll(new RegExp(`^\\d+:\\d+ ${kind} (\\d+)$`, 'gm')));
  return {
    readBytes: sum(bytes, 'Read'),
    writeBytes: sum(bytes, 'Write'),
    reads: sum(operations, 'Read'),
    writes: sum(operations, 'Write'),
  };
}

async function readPressure(hierarchy: CgroupHierarchy, path: string): Promise<CgroupStats['pressure']> {
  const found: NonNullable<CgroupStats['pressure']> = {};
  for (const kind of ['cpu', 'memory', 'io'] as const) {
    const files = filesOf(hierarchy, path, kind);
    const pressure = files?.version === 2 ? parsePressure(await files.read(`${kind}.pressure`)) : undefined;
    if (pressure !== undefined) found[kind] = pressure;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function parsePressure(text: string): PressureStats | undefined {
  const stats: PressureStats = {};
  for (const line of text.matchAll(/^(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/gm)) {
    const [avg10, avg60, avg300, totalMicroseconds] = line.slice(2).map(Number) as [number, number, number, number];
    stats[line[1] as 'some' | 'full'] = { avg10, avg60, avg300, totalMicroseconds };
  }
  return Object.keys(stats).length === 0 ? undefined : stats;
}

/** A file of `name value` lines. */
function keyed(text: string): Record<string, number | undefined> {
  return Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.split(' '))
      .map(([key, value]) => [key, Number(value)]),
  );
}

/** A file of one number; `undefined` without the file, and for `max`. */
function number(text: string | undefined): number | undefined {
  return /^\d+$/.test(text?.trim() ?? '') ? Number(text) : undefined;
}

/** v1 writes a huge number, the largest multiple of the page size, for no limit. */
const bounded = (limit: number | undefined) => (limit !== undefined && limit < 2 ** 62 ? limit : undefined);

function total(matches: Iterable<RegExpMatchArray>): number {
  let sum = 0;
  for (const match of matches) sum += Number(match[1]);
  return sum;
}
