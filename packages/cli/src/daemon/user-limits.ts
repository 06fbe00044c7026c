import { readFileSync, watch, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { errorMessage, isErrno, type Logger } from '@podwright/base';

/** What the kernel bounds for all processes of a user id together, those in containers and in user namespaces of its own too. */
const SYSCTLS = ['fs.inotify.max_user_instances', 'fs.inotify.max_user_watches', 'fs.epoll.max_user_watches'];
/**
 * What each of these takes at least of memory that its cgroup is charged for: a watch of inotify is the smallest (Linux 6.18).
 * With as many as all memory holds, what pods may have of them is bounded by their memory.
 */
const LEAST_BYTES = 64;
/** The kernel has limits of inotify as numbers of 32 bits. */
const MOST = 2 ** 31 - 1;

export type UserLimit = { sysctl: string; value: number; wanted: number };

/** The limits as they are, without those that this kernel does not have. */
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
 * Raises limits that a pod could use up: the node would have to poll, or libuv would end it when no epoll watch is left. Where
 * the kernel does not let this process change them, `podwright doctor` reports them.
 */
export function raiseUserLimits(logger: Logger, root?: string, memoryBytes?: number): void {
  for (const { sysctl, value, wanted } of readUserLimits(root, memoryBytes)) {
    if (value >= wanted) continue;
    try {
      writeFileSync(pathOf(root, sysctl), String(wanted));
      logger.info({ sysctl, from: value, to: wanted }, 'raised a limit that a pod could use up for the node');
    } catch (error) {
      logger.warn(
        { sysctl, value, wanted, error: errorMessage(error) },
        'a limit that a pod could use up cannot be raised',
      );
    }
  }
}

/** Why this process can watch no directory, for people; undefined if it can. Its user is the node's. */
export function watchProblem(): string | undefined {
  try {
    watch('/').close();
    return undefined;
  } catch (error) {
    const why = isErrno(error, 'EMFILE')
      ? 'fs.inotify.max_user_instances is used up'
      : isErrno(error, 'ENOSPC')
        ? 'fs.inotify.max_user_watches is used up'
        : errorMessage(error);
    return `no directory can be watched (${why}): the node looks for changes every second instead`;
  }
}

const pathOf = (root = '/proc/sys', sysctl: string) => join(root, sysctl.replaceAll('.', '/'));
