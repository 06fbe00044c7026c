/** Limits on configurations and plugins. */

/** Largest configuration file, in bytes. */
export const MAX_FILE_BYTES = 1 << 20;

/** Most configuration files in a directory. */
export const MAX_FILES = 1000;

/** Most nesting levels of a configuration or a result. */
export const MAX_JSON_DEPTH = 64;

/** Most plugins of one network. */
export const MAX_PLUGINS = 64;

/** Most output of a plugin on stdout or stderr, in bytes. */
export const MAX_OUTPUT_BYTES = 1 << 20;

/** How long the output of an exited plugin may stay open, for example in a daemon that it has started. */
export const LINGER_MS = 1000;

/** How long the helper processes of a killed plugin may take to finish. */
export const HELPER_GRACE_MS = 500;

/** How long to wait for killed processes. Only a process that hangs in the kernel takes longer; it is abandoned. */
export const KILLED_MS = 2000;

/** Deadlines of one plugin's run, in ms. ADD has the longest one, because IPAM plugins may query a server. */
export const ADD_TIMEOUT_MS = 120_000;
export const DEL_TIMEOUT_MS = 60_000;
export const QUERY_TIMEOUT_MS = 10_000;

/** How long a plugin started by an earlier process may continue before it is killed, in ms. */
export const STRAY_TIMEOUT_MS = 3000;
