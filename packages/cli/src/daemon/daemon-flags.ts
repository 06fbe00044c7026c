/**
 * Flags that keep a daemon's memory small but slow its start (docs/performance.md, "Memory"): for daemons only. `bin/podwright` passes
 * them as well, except to `kubelet`.
 */
export const DAEMON_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=100', '--expose-gc'];
