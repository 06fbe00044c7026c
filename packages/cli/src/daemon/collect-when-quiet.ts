import { getHeapStatistics } from 'node:v8';
import { HEAP_LOOK_MS } from '../limits.ts';

/**
 * A daemon that uses less than this of a core has little to do: a hundred pods that just run take a hundredth, with ten probes a
 * second up to eight on a host whose cores are all busy.
 */
const QUIET_CPU_SHARE = 0.1;
/** A collection holds the one thread for 50 to 120 ms: not for less than this. */
const WORTHWHILE_BYTES = 8 << 20;

/** What a look at a daemon saw: what its heap takes, and the part of a core that it has used since the last look. */
type HeapLook = { heapBytes: number; cpuShare: number };

/** Whether to collect: `settledBytes` is the smallest heap since the last collection. */
export function isWorthCollecting({ heapBytes, cpuShare }: HeapLook, settledBytes: number): boolean {
  return cpuShare < QUIET_CPU_SHARE && heapBytes - settledBytes > WORTHWHILE_BYTES;
}

/**
 * Collects what a burst of work left in the heap once the daemon is quiet: V8 would leave it there until the next burst, 35 MiB
 * after a hundred pods. Then `trim` gives back what the C library keeps of freed memory, 6 MiB at rest and more after a burst. For
 * programs that run with `--expose-gc`, as `bin/podwright` starts them; without it nothing is done.
 */
export function collectWhenQuiet(trim?: () => void): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let settledBytes = 0;
  let usage = process.cpuUsage();
  const look = () => {
    const { user, system } = process.cpuUsage(usage); // in microseconds
    usage = process.cpuUsage();
    const heapBytes = getHeapStatistics().total_heap_size;
    const worthwhile = isWorthCollecting({ heapBytes, cpuShare: (user + system) / 1000 / HEAP_LOOK_MS }, settledBytes);
    if (worthwhile) {
      gc({ type: 'major', flavor: 'last-resort' });
      trim?.();
    }
    settledBytes = worthwhile ? getHeapStatistics().total_heap_size : Math.min(settledBytes, heapBytes);
  };
  setInterval(look, HEAP_LOOK_MS).unref();
}
