import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { type CgroupHierarchy, cgroupDirectory, readCgroupFile, treeOf } from '@podwright/host';
import type { NodeAmounts } from './node-allocatable.ts';

/** Kernel limits on PIDs and threads (Documentation/admin-guide/sysctl/kernel.rst). */
const KERNEL_PID_LIMITS = ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max'];

/**
 * Reads the host's capacity. If the node itself runs in a container, the limits of the cgroup that appears as the root there apply as well.
 * If `hierarchy` is `undefined` (no cgroups), only the kernel's limits apply.
 */
export async function readNodeCapacity(hierarchy: CgroupHierarchy | undefined): Promise<NodeAmounts> {
  const kernelPids = await Promise.all(KERNEL_PID_LIMITS.map((file) => readFile(file, 'utf8')));
  const [v1Memory, v2Memory, pids] = await Promise.all([
    limitAtRoot(hierarchy, 'memory', 'memory.limit_in_bytes'),
    limitAtRoot(hierarchy, 'memory', 'memory.max'),
    limitAtRoot(hierarchy, 'pids', 'pids.max'),
  ]);
  return {
    memoryBytes: Math.min(totalmem(), v1Memory, v2Memory),
    pids: Math.min(...kernelPids.map(Number), pids),
  };
}

/** Reads a limit, such as `pids.max`, from a file of the root cgroup; Infinity if the limit is `max` or the file does not exist. */
async function limitAtRoot(hierarchy: CgroupHierarchy | undefined, controller: string, file: string): Promise<number> {
  const tree = hierarchy && treeOf(hierarchy, controller);
  const text = tree && (await readCgroupFile(join(cgroupDirectory(tree, '/'), file)));
  return text !== undefined && /^\d+$/.test(text.trim()) ? Number(text) : Number.POSITIVE_INFINITY;
}
