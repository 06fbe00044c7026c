/** Flags with which Node.js is small (ARCHITECTURE.md, "Memory") but starts later: for daemons alone. `bin/podwright` gives them, too, but to `kubelet`. */
export const DAEMON_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=100', '--expose-gc'];
