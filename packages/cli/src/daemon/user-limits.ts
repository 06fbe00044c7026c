import { readFileSync, watch, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { errorMessage, isErrno, type Logger } from '@podwright/base';

/** The kernel's per-user limits, shared by all of a user's processes, including those in containers and user namespaces. */
const SYSCTLS = ['fs.inotify.max_user_instances', 'fs.inotify.max_user_watches', 'fs.epoll.max_user_watches'];
/**
 * Memory that the kernel charges to the cgroup for the smallest limited object, an inotify watch (Linux 6.18). If a limit is the total
 * memory divided by this size, a pod's memory limit also bounds its share of the limit.
 */
const LEAST_BYTES = 64;
/** The maximum value of an inotify limit, which the kernel stores as a 32-bit integer. */
const MOST = 2 ** 31 - 1;

export type UserLimit = { sysctl: string; value: number; wanted: number };

/** Reads the host's per-user limits. Omits limits that this kernel does not have. */
export function readUserLimits(root = '/proc/sys', memoryBytes = totalmem()): UserLimit[] {
  const wanted = Math.min(MOST, Math.floor(memoryBytes / LEAST_BYTES));
  return SYSCTLS.flatMap((sysctl) => {
    try {
      return [{ sysctl, value: Number(readFileSync(pathOf(root, sysctl), 'utf8')), wanted }];
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    }
  });
}

/**
 * Raises the limits so that pods cannot exhaust them: without inotify, the node has to poll, and without epoll watches, libuv aborts the
 * process. If this process may not change them, `podwright doctor` reports them.
 */
export function raiseUserLimits(logger: Logger, root?: string, memoryBytes?: number): void {
  for (const { sysctl, value, wanted } of readUserLimits(root, memoryBytes)) {
    if (value >= wanted) continue;
    try {
      writeFileSync(pathOf(root, sysctl), String(wanted));
      logger.info({ sysctl, from: value, to: wanted }, 'raised a limit that a pod could exhaust for the node');
    } catch (error) {
      logger.warn(
        { sysctl, value, wanted, error: errorMessage(error) },
        'failed to raise a limit that a pod could exhaust',
      );
    }
  }
}

/**
 * Returns why this process cannot watch directories, or `undefined` if it can. The answer also holds for the node, which runs as the same
 * user and therefore shares its limits.
 */
export function watchProblem(): string | undefined {
  try {
    watch('/').close();
    return undefined;
  } catch (error) {
    const why = isErrno(error, 'EMFILE')
      ? 'fs.inotify.max_user_instances is exhausted'
      : isErrno(error, 'ENOSPC')
        ? 'fs.inotify.max_user_watches is exhausted'
        : errorMessage(error);
    return `directories cannot be watched (${why}); the node polls every second instead`;
  }
}

const pathOf = (root = '/proc/sys', sysctl: string) => join(root, sysctl.replaceAll('.', '/'));
