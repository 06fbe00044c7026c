/** Timeouts and limits for pods from an API server that are not configurable. */

/** Maximum number of in-flight status patches. */
export const STATUSES_AT_ONCE = 8;
/** Delay before a Pending pod's status is sent. Most pods are running by then, so one patch is enough. */
export const PENDING_STATUS_HOLD_MS = 100;
/** How often the statuses at the API server are compared with the kubelet's, as in upstream. */
export const STATUS_RECONCILE_MS = 10_000;
/** Backoff for status patches while the API server is unreachable. */
export const STATUS_OUTAGE_BACKOFF = { initialMs: 500, maxMs: 10_000 };
/** Backoff after mirror pods could not be created or deleted. */
export const MIRROR_BACKOFF = { initialMs: 1000, maxMs: 60_000 };
