import { getHeapStatistics } from 'node:v8';
import { HEAP_LOOK_MS } from '../limits.ts';

/**
 * Maximum share of a CPU core that a quiet daemon uses. A hundred running pods use 1 % of a core, or up to 8 % with ten probes per second
 * on a busy host.
 */
const QUIET_CPU_SHARE = 0.1;
/** The minimum heap growth that justifies a garbage collection, which blocks the event loop for 50 to 120 ms. */
const WORTHWHILE_BYTES = 8 << 20;

/** The heap size, and the share of a CPU core used since the last sample. */
type HeapSample = { heapBytes: number; cpuShare: number };

/** Whether a garbage collection is worthwhile. `settledBytes` is the smallest heap size since the last one. */
export function isWorthCollecting({ heapBytes, cpuShare }: HeapSample, settledBytes: number): boolean {
  return cpuShare < QUIET_CPU_SHARE && heapBytes - settledBytes > WORTHWHILE_BYTES;
}

/**
 * Collects the garbage left by a burst of work once the daemon is quiet; V8 would keep it until the next burst (35 MiB after a hundred
 * pods). Then calls `trim`, which returns memory cached by the C library to the kernel: 6 MiB at rest, more after a burst. `collect` is
 * `globalThis.gc`.
 */
export function collectWhenQuiet(collect: NodeJS.GCFunction, trim?: () => void): void {
  let settledBytes = 0;
  let usage = process.cpuUsage();
  const look = () => {
    const { user, system } = process.cpuUsage(usage); // in microseconds
    usage = process.cpuUsage();
    const heapBytes = getHeapStatistics().total_heap_size;
    const worthwhile = isWorthCollecting({ heapBytes, cpuShare: (user + system) / 1000 / HEAP_LOOK_MS }, settledBytes);
    if (worthwhile) {
      collect({ type: 'major', flavor: 'last-resort' });
      trim?.();
    }
    settledBytes = worthwhile ? getHeapStatistics().total_heap_size : Math.min(settledBytes, heapBytes);
  };
  setInterval(look, HEAP_LOOK_MS).unref();
}
