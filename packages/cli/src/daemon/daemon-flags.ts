/**
 * Flags for every process, daemon or not. Without them, SIGUSR1, which some log rotation setups send to daemons, opens the Node.js
 * inspector, through which any local user can execute code as root. `bin/podwright` and the executable set them as well.
 */
export const PROCESS_FLAGS = ['--disable-sigusr1'];

/**
 * Flags that keep a daemon's memory usage low but slow down its startup (docs/performance.md, "Memory"); therefore, only daemons use them.
 * `bin/podwright` passes them as well.
 */
export const DAEMON_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=100', '--expose-gc'];

/** Flags for `podwright kubelet`, which produces little garbage. */
export const KUBELET_FLAGS = ['--max-semi-space-size=2', '--expose-gc'];

/**
 * Returns the flags for a call with these arguments. If a pod has the same name as a daemon's command, commands for that pod also get the
 * daemon's flags; this only makes them start more slowly.
 */
export function daemonFlags(args: string[]): string[] {
  for (const word of args) {
    if (['node', 'runtime', 'dockershim', 'apiserver'].includes(word)) return DAEMON_FLAGS;
    if (word === 'kubelet') return KUBELET_FLAGS;
    if (word === '--') return [];
  }
  return [];
}
