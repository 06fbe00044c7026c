/** Timeouts and limits for API objects referenced by pods. They are not configurable; each one names its source. */

/** How long a pod waits for an object to be read on first use (upstream's watch_based_manager). */
export const OBJECT_READ_WAIT_MS = 1000;
/** Timeout for reading the Node object if the cached one does not match a pod's node affinity. */
export const NODE_READ_TIMEOUT_MS = 10_000;
/** The watch of a single ConfigMap or Secret is restarted after a random number of seconds in this range, as in upstream. */
export const OBJECT_WATCH_SECONDS = { least: 1800, most: 3600 };
/** How long a fetched object may be reused if the Node has no TTL annotation (upstream's defaultTTL). */
export const OBJECT_TTL_MS = 60_000;
/**
 * A token is replaced after this fraction of its lifetime or at the maximum age, whichever is earlier, minus jitter (upstream's token
 * manager).
 */
export const TOKEN_USED_SHARE = 0.8;
export const TOKEN_MAX_AGE_MS = 24 * 3_600_000;
export const TOKEN_JITTER_MS = 10_000;
/** Minimum age at which a token is replaced, or half its lifetime if that is shorter. */
export const TOKEN_LEAST_AGE_MS = 30_000;
/** Upstream's API server accepts tokens issued up to this far in the future. */
export const TOKEN_LEEWAY_MS = 60_000;
/** Maximum length of a token. Real tokens are one to two KiB long. */
export const MAX_TOKEN_LENGTH = 64 << 10;
/** Back-off between failed token replacements (upstream's volume back-off). */
export const TOKEN_RETRY = { initialMs: 500, maxMs: 122_000 };
