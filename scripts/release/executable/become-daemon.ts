/** V8 flags for daemons, which the executable passes to itself in NODE_OPTIONS, as bin/podwright passes them to Node.js. */

import { KUBELET_FLAGS, resetFlags } from '../../../packages/cli/src/daemon/daemon-flags.ts';

/** The daemon flag that is not allowed in NODE_OPTIONS. */
const EARLY_FLAG = '--no-short-builtin-calls';

/** Replaces this process with the same program, started with the flags (execve). Does not return. */
export function becomeDaemon(args: string[], flags: string[]): void {
  const { env, execPath, argv0 } = process;
  const added = flags.filter((flag) => flag !== EARLY_FLAG).join(' ');
  if (env.NODE_OPTIONS?.endsWith(added))
    throw new Error(
      `start ${execPath} as a daemon: Node.js ignores NODE_OPTIONS, as for files with capabilities (setcap); remove them`,
    );
  const memory = flags === KUBELET_FLAGS ? { MALLOC_TRIM_THRESHOLD_: env.MALLOC_TRIM_THRESHOLD_ || '131072' } : {};
  process.execve!(execPath, [argv0, ...args], {
    ...env,
    ...memory,
    MALLOC_ARENA_MAX: env.MALLOC_ARENA_MAX || '1',
    NODE_OPTIONS: [env.NODE_OPTIONS, added].join(' '),
  });
}

/**
 * In a process started with the daemon flags, removes them from the environment of child processes, and resets them if `usesFastPaths` is
 * set.
 */
export function settleDaemon(usesFastPaths: boolean): void {
  delete process.env.NODE_OPTIONS;
  if (usesFastPaths) resetFlags();
}
