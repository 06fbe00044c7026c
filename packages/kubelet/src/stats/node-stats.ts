import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { isErrno } from '@podwright/base';
import {
  type CgroupHierarchy,
  type CgroupStats,
  type PressureStats,
  parseInterfaces,
  readCgroupUse,
  readHostPressure,
} from '@podwright/host';
import type { CpuRates } from './cpu-rates.ts';
import {
  type ContainerStats,
  type CpuStats,
  type MemoryStats,
  type NetworkStats,
  type NodeStats,
  type PsiStats,
  type RlimitStats,
  StatsTime,
  type SwapStats,
} from './summary.ts';

/** A cgroup to measure. `availableBytes`: the memory it may use; unset if that is the cgroup's own limit. */
export type MeasuredCgroup = { path: string; availableBytes?: number };

/**
 * Returns the CPU, memory, pressure and swap usage of a cgroup; empty if the cgroup does not exist. The pressure of `/` is that of the
 * host.
 */
export function cgroupUse(
  hierarchy: CgroupHierarchy | undefined,
  { path, availableBytes }: MeasuredCgroup,
  rates: CpuRates,
): Pick<ContainerStats, 'cpu' | 'memory' | 'io' | 'swap'> {
  if (hierarchy === undefined) return {};
  const stats = readCgroupUse(hierarchy, path);
  const time = new StatsTime(stats.readAtMs);
  const pressure = path === '/' ? readHostPressure() : stats.pressure;
  const [cpu, memory] = [cpuOf(path, stats, rates), memoryOf(stats, availableBytes)];
  return {
    cpu: cpu && { ...cpu, psi: psiOf(pressure?.cpu) },
    memory: memory && { ...memory, psi: psiOf(pressure?.memory) },
    io: pressure?.io && { time, psi: psiOf(pressure.io) },
    swap: stats.memory && { time, swapUsageBytes: stats.memory.swapBytes },
  };
}

/** Converts pressure statistics. For the CPU of the whole host, kernels report no `full` pressure, or only zeros. */
function psiOf(pressure: PressureStats | undefined): PsiStats | undefined {
  const data = (
    { totalMicroseconds: total, ...averages } = { totalMicroseconds: 0, avg10: 0, avg60: 0, avg300: 0 },
  ) => ({
    total,
    ...averages,
  });
  return pressure && { full: data(pressure.full), some: data(pressure.some) };
}

function cpuOf(path: string, { cpu, readAtMs }: CgroupStats, rates: CpuRates): CpuStats | undefined {
  if (cpu === undefined) return undefined;
  const used = BigInt(Math.round(cpu.usageNanoseconds));
  return {
    time: new StatsTime(readAtMs),
    usageNanoCores: rates.rate(`cgroup ${path}`, used, BigInt(readAtMs) * 1_000_000n),
    usageCoreNanoSeconds: cpu.usageNanoseconds,
  };
}

function memoryOf({ memory, readAtMs }: CgroupStats, capacityBytes: number | undefined): MemoryStats | undefined {
  if (memory === undefined) return undefined;
  const { usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults, limitBytes } = memory;
  const bound = capacityBytes ?? limitBytes;
  return {
    time: new StatsTime(readAtMs),
    availableBytes: bound === undefined ? undefined : Math.max(0, bound - workingSetBytes),
    usageBytes,
    workingSetBytes,
    rssBytes,
    pageFaults,
    majorPageFaults,
  };
}

/** Returns the host's boot time. */
export function bootTime(): StatsTime {
  return new StatsTime(Date.now() - uptime() * 1000);
}

/** Returns the host's swap usage; `undefined` if unknown. */
export async function hostSwap(): Promise<SwapStats | undefined> {
  const text = (await readIfThere('/proc/meminfo')) ?? '';
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN) * 1024;
  const [total, free] = [bytes('SwapTotal'), bytes('SwapFree')];
  if (Number.isNaN(total) || Number.isNaN(free)) return undefined;
  return { time: new StatsTime(Date.now()), swapAvailableBytes: free, swapUsageBytes: total - free };
}

/** Returns the maximum and current number of processes and threads (proc(5)). */
export async function processLimits(): Promise<RlimitStats> {
  const limits = ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max'];
  const [load = '', ...texts] = await Promise.all(['/proc/loadavg', ...limits].map(readIfThere));
  const known = texts.filter((text) => text !== undefined).map(Number);
  const running = /\/(\d+) /.exec(load)?.[1];
  return {
    time: new StatsTime(Date.now()),
    maxpid: known.length === 0 ? undefined : Math.min(...known),
    curproc: running === undefined ? undefined : Number(running),
  };
}

/**
 * Returns statistics of the host's network interfaces except loopback. The default interface is `eth0`, as in upstream, or else the one
 * with the default route.
 */
export async function hostNetwork(): Promise<NetworkStats | undefined> {
  const [devices = '', routes = ''] = await Promise.all(['/proc/net/dev', '/proc/net/route'].map(readIfThere));
  const interfaces = parseInterfaces(devices)
    .filter(({ name }) => name !== 'lo')
    .map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({ name, rxBytes, rxErrors, txBytes, txErrors }));
  const route = /^(\S+)\s+00000000\s/m.exec(routes)?.[1];
  const named = (name: string | undefined) => interfaces.find((one) => one.name === name);
  const first = named('eth0') ?? named(route) ?? interfaces[0];
  return first && { time: new StatsTime(Date.now()), ...first, interfaces };
}

/** Returns the host's network statistics, process limits and swap usage. */
export async function hostFacts(): Promise<Pick<NodeStats, 'network' | 'rlimit' | 'swap'>> {
  const [network, rlimit, swap] = await Promise.all([hostNetwork(), processLimits(), hostSwap()]);
  return { network, rlimit, swap };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
