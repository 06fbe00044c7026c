/** Timeouts in milliseconds, sizes in bytes. The timeouts are the defaults of containerd/nri 0.12. */

/** Default timeout from connecting until the plugin has registered. */
export const REGISTRATION_TIMEOUT_MS = 5000;
/** Default timeout for a plugin's response to a request. */
export const REQUEST_TIMEOUT_MS = 2000;
/** Maximum number of plugins that are connected or registering. */
export const MAX_PLUGINS = 64;
/** Maximum size of a plugin's configuration file, which is sent in a single message of at most 4 MiB. */
export const MAX_CONFIG_BYTES = 3 << 20;
/**
 * Maximum size of the pods and containers in one Synchronize request. Leaves room for the rest of the message, because ttrpc's limit is 4
 * MiB.
 */
export const SYNCHRONIZE_BYTES = 3 << 20;
