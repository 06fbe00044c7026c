/**
 * Flags of every process, daemon or not. Without them SIGUSR1, which some log rotation setups send to daemons, opens the inspector of
 * Node.js, through which any local user can execute code as root. `bin/podwright` and the executable have them as well.
 */
export const PROCESS_FLAGS = ['--disable-sigusr1'];

/**
 * Flags that keep a daemon's memory small but slow its start (docs/performance.md, "Memory"), so only daemons get them. `bin/podwright`
 * passes them as well.
 */
export const DAEMON_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=100', '--expose-gc'];

/** The flags of `podwright kubelet`, which produces little garbage. */
export const KUBELET_FLAGS = ['--max-semi-space-size=2', '--expose-gc'];

/**
 * Returns the flags for a call with these arguments. If a pod has the name of a daemon's command, commands about it get the daemon's flags,
 * and only start more slowly.
 */
export function daemonFlags(args: string[]): string[] {
  for (const word of args) {
    if (['node', 'runtime', 'dockershim'].includes(word)) return DAEMON_FLAGS;
    if (word === 'kubelet') return KUBELET_FLAGS;
    if (word === '--') return [];
  }
  return [];
}
