/** Limits on configurations and plugins. */

/** Maximum size of a configuration file. */
export const MAX_FILE_BYTES = 1 << 20;

/** Maximum number of configuration files in a directory. */
export const MAX_FILES = 1000;

/** Maximum nesting depth of a configuration or a result. */
export const MAX_JSON_DEPTH = 64;

/** Maximum number of plugins of one network. */
export const MAX_PLUGINS = 64;

/** Maximum output of a plugin on stdout and stderr together. */
export const MAX_OUTPUT_BYTES = 1 << 20;

/** How long the output of an exited plugin may stay open, for example in a daemon that the plugin has started. */
export const LINGER_MS = 1000;

/** How long the helper processes of a killed plugin may take to finish. */
export const HELPER_GRACE_MS = 500;

/** How long to wait for killed processes. A process takes longer only if it hangs in the kernel; then it is abandoned. */
export const KILLED_MS = 2000;

/** Deadlines for one run of a plugin, in ms. ADD has the longest, because IPAM plugins may query a server. */
export const ADD_TIMEOUT_MS = 120_000;
export const DEL_TIMEOUT_MS = 60_000;
export const QUERY_TIMEOUT_MS = 10_000;

/** How long a plugin that an earlier process has started may continue before it is killed, in ms. */
export const STRAY_TIMEOUT_MS = 3000;
