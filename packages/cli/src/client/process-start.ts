import { readFileSync } from 'node:fs';
import { isErrno } from '@podwright/base';

/**
 * Returns a process's start time in clock ticks since boot, which distinguishes it from a later process with the same PID. Returns
 * `undefined` if the process has exited.
 */
export function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : fields[18];
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ESRCH')) return undefined;
    throw error;
  }
}
