/** API objects of pods: timers and bounds that are not options, with their sources. */

/** How long the first use of an object waits for the first read (upstream's watch_based_manager). */
export const OBJECT_READ_WAIT_MS = 1000;
/** Timeout of the node read for a pod whose node affinity does not match the cached node. */
export const NODE_READ_TIMEOUT_MS = 10_000;
/** Watches of single ConfigMaps and Secrets restart after a random time in this range (upstream's). */
export const OBJECT_WATCH_SECONDS = { least: 1800, most: 3600 };
/** How long a fetched object is used without an annotation of the Node (upstream's defaultTTL). */
export const OBJECT_TTL_MS = 60_000;
/** A token is replaced at this share of its lifetime, or at the maximum age, minus a jitter (upstream's token manager). */
export const TOKEN_USED_SHARE = 0.8;
export const TOKEN_MAX_AGE_MS = 24 * 3_600_000;
export const TOKEN_JITTER_MS = 10_000;
/** Minimum age of a token at its replacement; half the lifetime for tokens that live shorter than twice this. */
export const TOKEN_LEAST_AGE_MS = 30_000;
/** Tokens have one to two KiB. */
export const MAX_TOKEN_LENGTH = 64 << 10;
/** Back-off after a failed replacement of a token (upstream's back-off of volumes). */
export const TOKEN_RETRY = { initialMs: 500, maxMs: 122_000 };
