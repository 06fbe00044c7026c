/** Converts CRI statistics to the types of the summary API. */
import type {
  CpuUsage,
  ContainerStats as CriContainerStats,
  PsiStats as CriPsiStats,
  MemoryUsage,
  NetworkInterfaceUsage,
  NetworkUsage,
  SwapUsage,
  UInt64Value,
} from '@podwright/cri';
import {
  type CpuStats,
  type InterfaceStats,
  type IoStats,
  type MemoryStats,
  type NetworkStats,
  type PsiStats,
  StatsTime,
  type SwapStats,
} from './summary.ts';

const NANOSECONDS_PER_MS = 1_000_000n;

const numberOf = (value: UInt64Value | undefined) => (value === undefined ? undefined : Number(value.value));

/** Converts a timestamp in nanoseconds since the epoch; 0 means now. */
export function timeOf(timestamp: bigint): StatsTime {
  return new StatsTime(timestamp === 0n ? Date.now() : Number(timestamp / NANOSECONDS_PER_MS));
}

export function cpuStats(cpu: CpuUsage, usageNanoCores: number | undefined): CpuStats {
  return {
    time: timeOf(cpu.timestamp),
    usageNanoCores: numberOf(cpu.usageNanoCores) ?? usageNanoCores,
    usageCoreNanoSeconds: numberOf(cpu.usageCoreNanoSeconds),
    psi: psiStats(cpu.psi),
  };
}

export function memoryStats(memory: MemoryUsage): MemoryStats {
  return {
    time: timeOf(memory.timestamp),
    availableBytes: numberOf(memory.availableBytes),
    usageBytes: numberOf(memory.usageBytes),
    workingSetBytes: numberOf(memory.workingSetBytes),
    rssBytes: numberOf(memory.rssBytes),
    pageFaults: numberOf(memory.pageFaults),
    majorPageFaults: numberOf(memory.majorPageFaults),
    psi: psiStats(memory.psi),
  };
}

export function swapStats(swap: SwapUsage): SwapStats {
  const { timestamp, swapAvailableBytes, swapUsageBytes } = swap;
  return {
    time: timeOf(timestamp),
    swapAvailableBytes: numberOf(swapAvailableBytes),
    swapUsageBytes: numberOf(swapUsageBytes),
  };
}

export function ioStats({ timestamp, psi }: NonNullable<CriContainerStats['io']>): IoStats {
  return { time: timeOf(timestamp), psi: psiStats(psi) };
}

export function networkStats({ timestamp, defaultInterface, interfaces }: NetworkUsage): NetworkStats | undefined {
  const all = [...(defaultInterface === undefined ? [] : [defaultInterface]), ...interfaces].map(interfaceStats);
  const [first] = all;
  return first && { time: timeOf(timestamp), ...first, interfaces: all };
}

function interfaceStats({ name, rxBytes, rxErrors, txBytes, txErrors }: NetworkInterfaceUsage): InterfaceStats {
  return {
    name,
    rxBytes: numberOf(rxBytes),
    rxErrors: numberOf(rxErrors),
    txBytes: numberOf(txBytes),
    txErrors: numberOf(txErrors),
  };
}

function psiStats(psi: CriPsiStats | undefined): PsiStats | undefined {
  const data = (part: CriPsiStats['Full']) => ({
    total: Number(part?.Total ?? 0n),
    avg10: part?.Avg10 ?? 0,
    avg60: part?.Avg60 ?? 0,
    avg300: part?.Avg300 ?? 0,
  });
  return psi && { full: data(psi.Full), some: data(psi.Some) };
}
