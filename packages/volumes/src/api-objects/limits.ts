/** What pods need of an API server: timers and bounds that are not options, with their sources. */

/** How long the first use of an object waits until it has been read (upstream's watch_based_manager). */
export const OBJECT_PATIENCE_MS = 1000;
/** How long a pod whose node affinity the node does not meet waits for the node as the API server has it now. */
export const NODE_READ_TIMEOUT_MS = 10_000;
/** Watches of single ConfigMaps and Secrets are begun anew after a random time between these (upstream's). */
export const OBJECT_WATCH_SECONDS = { least: 1800, most: 3600 };
/** How long an object is used that is not watched, unless the Node's annotation says (upstream's defaultTTL). */
export const OBJECT_TTL_MS = 60_000;
/** A token is replaced after this share of its life, and after a day, some seconds earlier (upstream's token manager). */
export const TOKEN_USED_SHARE = 0.8;
export const TOKEN_MAX_AGE_MS = 24 * 3_600_000;
export const TOKEN_JITTER_MS = 10_000;
/** A token is not replaced sooner, but for one that lives for less than twice this. */
export const TOKEN_LEAST_AGE_MS = 30_000;
/** A token has one to two KiB. */
export const MAX_TOKEN_LENGTH = 64 << 10;
/** Delays after tokens that could not be replaced (upstream's of volumes). */
export const TOKEN_RETRY = { initialMs: 500, maxMs: 122_000 };
