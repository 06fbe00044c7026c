/**
 * The flags of each process, daemon or not: without them SIGUSR1, with which some log rotations notify daemons, opens the inspector of
 * Node.js, through which any local user executes code as root. `bin/podwright` and the executable have them as well.
 */
export const PROCESS_FLAGS = ['--disable-sigusr1'];

/**
 * Flags that keep a daemon's memory small but slow its start (docs/performance.md, "Memory"): for daemons only. `bin/podwright` passes
 * them as well.
 */
export const DAEMON_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=100', '--expose-gc'];

/** The flags of `podwright kubelet`, which has little to collect. */
export const KUBELET_FLAGS = ['--max-semi-space-size=2', '--expose-gc'];

/** The flags of a call with these arguments. A pod may be called as a daemon is: its commands only start later. */
export function daemonFlags(args: string[]): string[] {
  for (const word of args) {
    if (['node', 'runtime', 'dockershim'].includes(word)) return DAEMON_FLAGS;
    if (word === 'kubelet') return KUBELET_FLAGS;
    if (word === '--') return [];
  }
  return [];
}
