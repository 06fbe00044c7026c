import { PodwrightError } from '@podwright/base';
import type { SystemReserved } from '@podwright/kubelet-configuration';

/** Amounts of memory and pids. Threads count as processes, as they do in the kernel. */
export type NodeAmounts = { memoryBytes: number; pids: number };

/**
 * The fraction of the capacity that `auto` reserves. The reservation is at least `LEAST_RESERVED_BYTES` or `LEAST_RESERVED_PIDS`, and at
 * most half of the capacity.
 */
const RESERVED_SHARE = 0.05;
/**
 * Minimum memory reservation of `auto`. An idle `podwright node` process uses 150 MB, a bare Debian about 100 MB. With a smaller
 * reservation, their memory would be swapped out, or they would be killed, once pods use all other memory.
 */
const LEAST_RESERVED_BYTES = 256 * 2 ** 20;
/**
 * Minimum PID reservation of `auto`: enough for a few hundred threads of the kernel, system services and `podwright node`, plus one monitor
 * process per container.
 */
const LEAST_RESERVED_PIDS = 1024;

/**
 * Returns the amounts that all pods on the node together may use: the capacity minus the reservation (`systemReserved` in
 * KubeletConfiguration). As in upstream, eviction thresholds are not subtracted from the enforced limit, so that eviction starts before
 * pods reach it. Throws `invalid_argument` if nothing would be left.
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
