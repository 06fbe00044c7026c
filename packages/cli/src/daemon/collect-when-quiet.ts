import { getHeapStatistics } from 'node:v8';
import { HEAP_LOOK_MS, LOOKS_APART_AT_REST, LOOKS_UNTIL_REST } from '../limits.ts';

/**
 * A daemon is quiet if it uses less than this share of a CPU core. A hundred running pods use 1 % of a core, or up to 8 % with ten probes
 * per second on a busy host.
 */
const QUIET_CPU_SHARE = 0.1;
/** Minimum heap growth that justifies a garbage collection, which blocks the event loop for 50 to 120 ms. */
const WORTHWHILE_BYTES = 8 << 20;
/** Minimum growth of the used heap that justifies a garbage collection in a daemon at rest. Such collections are infrequent. */
const WORTHWHILE_AT_REST_BYTES = 1 << 20;

/**
 * State for deciding on a garbage collection. `heapBytes`: heap growth since its minimum after the last collection. `usedBytes`: growth of
 * the used heap since that collection. `quietLooks`: number of consecutive checks in which the daemon was quiet.
 */
type HeapGrowth = { heapBytes: number; usedBytes: number; quietLooks: number };

/** Whether the daemon is quiet and its heap has grown enough for a garbage collection to be worthwhile. */
export function isWorthCollecting({ heapBytes, usedBytes, quietLooks }: HeapGrowth): boolean {
  if (quietLooks === 0) return false;
  const isTurnAtRest = quietLooks % LOOKS_APART_AT_REST === LOOKS_UNTIL_REST;
  return heapBytes > WORTHWHILE_BYTES || (isTurnAtRest && usedBytes > WORTHWHILE_AT_REST_BYTES);
}

/**
 * Collects the garbage left by a burst of work once the daemon is quiet; V8 would keep it until the next burst (35 MiB after a hundred
 * pods). Collects again once the daemon is at rest, because only then has everything from the last work become garbage, and then every two
 * minutes while it rests. After each collection, calls `trim`, which returns memory cached by the C library to the kernel: 6 MiB at rest,
 * more after a burst.
 */
export function collectWhenQuiet(collect: () => void, trim?: () => void): void {
  const settled = { heapBytes: 0, usedBytes: 0 };
  let quietLooks = 0;
  let usage = process.cpuUsage();
  const look = () => {
    const { user, system } = process.cpuUsage(usage); // in microseconds
    usage = process.cpuUsage();
    quietLooks = (user + system) / 1000 / HEAP_LOOK_MS < QUIET_CPU_SHARE ? quietLooks + 1 : 0;
    const { heapBytes, usedBytes } = heapSizes();
    settled.heapBytes = Math.min(settled.heapBytes, heapBytes);
    const growth = { heapBytes: heapBytes - settled.heapBytes, usedBytes: usedBytes - settled.usedBytes };
    if (!isWorthCollecting({ ...growth, quietLooks })) return;
    collect();
    trim?.();
    Object.assign(settled, heapSizes());
  };
  setInterval(look, HEAP_LOOK_MS).unref();
}

function heapSizes(): { heapBytes: number; usedBytes: number } {
  const { total_heap_size: heapBytes, used_heap_size: usedBytes } = getHeapStatistics();
  return { heapBytes, usedBytes };
}
