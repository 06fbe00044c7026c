/** Flags with which Node.js is small (ARCHITECTURE.md, "Memory") but starts later: for daemons alone. `bin/podwright` has them, too. */
export const DAEMON_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=100', '--expose-gc'];
