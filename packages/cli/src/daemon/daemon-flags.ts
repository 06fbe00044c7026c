/**
 * Flags for every process, daemon or not. Without them, SIGUSR1, which some log rotation setups send to daemons, opens the Node.js
 * inspector and lets any local user execute code as root. `bin/podwright` and the executable set them as well.
 */
export const PROCESS_FLAGS = ['--disable-sigusr1'];

/**
 * Flags that lower a daemon's memory usage but slow down its startup (docs/performance.md, "Memory"), so only daemons use them.
 * `bin/podwright` passes them as well.
 */
export const DAEMON_FLAGS = ['--max-semi-space-size=4', '--no-short-builtin-calls', '--expose-gc'];

/** Flags for `podwright kubelet`, which produces little garbage. */
export const KUBELET_FLAGS = ['--max-semi-space-size=2', '--no-short-builtin-calls', '--expose-gc'];

/**
 * Returns the flags for an invocation with these arguments. If a pod has the same name as a daemon's command, commands for that pod also
 * get the daemon's flags, which only slows down their startup.
 */
export function daemonFlags(args: string[]): string[] {
  for (const word of args) {
    if (['node', 'runtime', 'dockershim', 'apiserver', 'controllers', 'proxy'].includes(word)) return DAEMON_FLAGS;
    if (word === 'kubelet') return KUBELET_FLAGS;
    if (word === '--') return [];
  }
  return [];
}

/** V8's default values of the flags that daemons override. */
export const DEFAULT_FLAGS = ['--max-semi-space-size=0', '--short-builtin-calls', '--no-expose-gc'];

/**
 * Resets a daemon's flags to V8's defaults. They have already taken effect, since V8 reads them only at startup. If they kept their
 * non-default values, V8 would reject the code cache of Node.js's built-in modules; Node.js would then compile each module on load, and
 * keep a copy of the compiled code for threads (1.2 MiB).
 */
export function resetFlags(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of DEFAULT_FLAGS) setFlagsFromString(flag);
}
