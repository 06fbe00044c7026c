/** The limits of this package, on configurations and on what plugins may do. */

/** Of one configuration file, in bytes. */
export const MAX_FILE_BYTES = 1 << 20;

/** Configuration files that a directory is searched for. */
export const MAX_FILES = 1000;

/** Levels of a configuration or a result. */
export const MAX_JSON_DEPTH = 64;

/** Plugins of one network. */
export const MAX_PLUGINS = 64;

/** What a plugin may write to stdout and stderr, in bytes. */
export const MAX_OUTPUT_BYTES = 1 << 20;

/** How long a program that has ended may leave its output open, as it does when it starts a daemon. */
export const LINGER_MS = 1000;

/** How long the helpers of a killed plugin may take to finish. */
export const HELPER_GRACE_MS = 500;

/** Nothing survives SIGKILL for long, unless it hangs in the kernel; that is not waited for. */
export const KILLED_MS = 2000;

/** Deadlines of one plugin's run, in ms. Address plugins may ask a server, so that ADD gets more than the rest. */
export const ADD_TIMEOUT_MS = 120_000;
export const DEL_TIMEOUT_MS = 60_000;
export const QUERY_TIMEOUT_MS = 10_000;

/** How long a plugin that a process before this one has started may go on before it is killed, in ms. */
export const STRAY_TIMEOUT_MS = 3000;
