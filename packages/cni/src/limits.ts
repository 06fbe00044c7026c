/** Limits on configurations and plugins. */

/** Maximum size of a configuration file. */
export const MAX_FILE_BYTES = 1 << 20;

/** Maximum number of configuration files in a directory. */
export const MAX_FILES = 1000;

/** Maximum nesting depth of a configuration or a result. */
export const MAX_JSON_DEPTH = 64;

/** Maximum number of plugins per network. */
export const MAX_PLUGINS = 64;

/** Maximum size of a plugin's stdout and stderr combined. */
export const MAX_OUTPUT_BYTES = 1 << 20;

/** How long an exited plugin's output may stay open, for example because the plugin has started a daemon. */
export const LINGER_MS = 1000;

/** How long the helper processes of a killed plugin can continue before they are killed as well. */
export const HELPER_GRACE_MS = 500;

/** How long to wait for killed processes to exit. A process takes longer only if it hangs in the kernel, in which case it is abandoned. */
export const KILLED_MS = 2000;

/** Deadlines for one plugin run, in milliseconds. ADD has the longest, because IPAM plugins may query a server. */
export const ADD_TIMEOUT_MS = 120_000;
export const DEL_TIMEOUT_MS = 60_000;
export const QUERY_TIMEOUT_MS = 10_000;

/** How long a plugin left running by a container runtime that has died may continue before it is killed, in milliseconds. */
export const STRAY_TIMEOUT_MS = 3000;
