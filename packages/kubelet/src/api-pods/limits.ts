/** Fixed timeouts and limits for pods from an API server. */

/** Maximum number of in-flight status patches. */
export const STATUSES_AT_ONCE = 8;
/** Delay before a Pending pod's status is sent. Most pods are running by then, which saves a patch. */
export const PENDING_STATUS_HOLD_MS = 100;
/**
 * Delay before a Pending pod's status is sent if nothing has started yet and the status does not say why. When twenty pods start at once,
 * the last ones wait for more than half a second, and would need two more patches each.
 */
export const STARTING_STATUS_HOLD_MS = 1000;
/** How often the statuses at the API server are compared with the kubelet's, as in upstream. */
export const STATUS_RECONCILE_MS = 10_000;
/** Backoff for status patches while the API server is unreachable. */
export const STATUS_OUTAGE_BACKOFF = { initialMs: 500, maxMs: 10_000 };
/** Backoff for failed creations and deletions of mirror pods. */
export const MIRROR_BACKOFF = { initialMs: 1000, maxMs: 60_000 };
