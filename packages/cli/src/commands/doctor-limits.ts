import { readUserLimits, watchProblem } from '../daemon/user-limits.ts';
import type { Finding } from './doctor-places.ts';

/**
 * Reports whether the kernel's per-user limits are exhausted, and whether a pod could exhaust them: by default, pods share these limits
 * with the node.
 */
export function limitFindings(): Finding[] {
  const what = 'user limits';
  const low = readUserLimits().filter(({ value, wanted }) => value < wanted);
  const problem = watchProblem();
  const fix =
    low.length === 0 ? undefined : `sysctl -w ${low.map(({ sysctl, wanted }) => `${sysctl}=${wanted}`).join(' ')}`;
  if (problem !== undefined) return [{ what, level: 'note', message: problem, fix }];
  if (fix === undefined)
    return [{ what, level: 'ok', message: 'watches of inotify and epoll: as many as memory holds' }];
  const values = low.map(({ sysctl, value }) => `${sysctl} is ${value}`).join(', ');
  return [{ what, level: 'note', message: `${values}: pods of the same user id can use them up`, fix }];
}
