import { PodwrightError } from '@podwright/base';

/** Amounts of what a node has and pods use up. Threads count as processes, as the kernel counts them. */
export type NodeAmounts = { memoryBytes: number; pids: number };

/** What is kept back for everything that is no pod: numbers, or `auto` for a share of what the host has. */
export type SystemReserved = {
  memoryBytes: number | 'auto';
  pids: number | 'auto';
  /** Thousandths of a core. */
  cpuMillis: number;
  ephemeralStorageBytes: number;
};

/** Upstream keeps nothing back. */
export const NOTHING_RESERVED: SystemReserved = { memoryBytes: 0, pids: 0, cpuMillis: 0, ephemeralStorageBytes: 0 };

/** The share that `auto` keeps back, and the least that it keeps of what there is, as long as that is no more than half. */
const RESERVED_SHARE = 0.05;
/** A node at rest has 150 MB, a bare Debian about 100 MB: with less, both would swap or be killed when pods use the rest up. */
const LEAST_RESERVED_BYTES = 256 * 2 ** 20;
/** Threads of the kernel, of the system's services, and of the node with a monitor a container: some hundreds. */
const LEAST_RESERVED_PIDS = 1024;

/**
 * What all pods of a node may use together: its capacity less what is kept back (KubeletConfiguration's `systemReserved`).
 * As upstream's, the amount that is enforced keeps no eviction threshold back: pods that come near to it are evicted before.
 * `invalid_argument` if nothing would be left.
 */
export function nodeAllocatable(
  capacity: NodeAmounts,
  reserved: Pick<SystemReserved, 'memoryBytes' | 'pids'>,
): NodeAmounts {
  const amounts = {
    memoryBytes: autoReserve(reserved.memoryBytes, capacity.memoryBytes, LEAST_RESERVED_BYTES),
    pids: autoReserve(reserved.pids, capacity.pids, LEAST_RESERVED_PIDS),
  };
  for (const [name, key] of [
    ['memory', 'memoryBytes'],
    ['pid', 'pids'],
  ] as const) {
    if (amounts[key] < capacity[key]) continue;
    throw new PodwrightError(
      'invalid_argument',
      `reserve ${amounts[key]} of ${name} for the system: the node has ${capacity[key]}, so nothing would be left for pods; lower the reserve`,
    );
  }
  return {
    memoryBytes: capacity.memoryBytes - amounts.memoryBytes,
    pids: capacity.pids - amounts.pids,
  };
}

function autoReserve(reserved: number | 'auto', capacity: number, least: number): number {
  if (reserved !== 'auto') return reserved;
  return Math.floor(Math.min(Math.max(capacity * RESERVED_SHARE, least), capacity / 2));
}
