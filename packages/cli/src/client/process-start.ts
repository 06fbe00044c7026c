import { readFileSync } from 'node:fs';
import { isErrno } from '@podwright/base';

/** When a process began, in clock ticks since the boot: its number alone may be another's by now. `undefined` for one that has ended. */
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
