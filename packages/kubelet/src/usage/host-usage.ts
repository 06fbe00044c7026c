import { cpus, freemem, totalmem } from 'node:os';
import { sleep } from '@podwright/base';
import type { ContainerUse } from './container-usage.ts';
import { LEAST_USAGE_WINDOW_MS } from './limits.ts';

/** Returns the usage of the whole host: non-idle CPU time, and memory that is not available. */
export async function hostUsage(signal: AbortSignal): Promise<ContainerUse> {
  const before = processorTimes();
  await sleep(LEAST_USAGE_WINDOW_MS, signal);
  const now = processorTimes();
  const elapsed = now.all - before.all;
  const share = elapsed > 0 ? (now.busy - before.busy) / elapsed : 0;
  return { cpuNanoCores: Math.round(share * cpus().length * 1e9), memoryBytes: totalmem() - freemem() };
}

/** Returns the total and non-idle CPU time of all CPUs since boot, in milliseconds. */
function processorTimes(): { all: number; busy: number } {
  const times = cpus().map(({ times }) => times);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { all, busy: all - times.reduce((sum, { idle }) => sum + idle, 0) };
}
