/** Timeouts in milliseconds, sizes in bytes. The timeouts are the defaults of containerd/nri 0.12. */

/** Default timeout from connecting until the plugin has registered. */
export const REGISTRATION_TIMEOUT_MS = 5000;
/** Default timeout for a plugin's response to a request. */
export const REQUEST_TIMEOUT_MS = 2000;
/** Maximum number of plugins that are connected or registering. */
export const MAX_PLUGINS = 64;
/** Maximum size of the configuration file of a plugin. It is sent in one message, whose maximum size is 4 MiB. */
export const MAX_CONFIG_BYTES = 3 << 20;
/**
 * Maximum size of the pods and containers in one Synchronize request, which leaves room for the rest of the message. ttrpc's maximum is
 * 4 MiB.
 */
export const SYNCHRONIZE_BYTES = 3 << 20;
