/** Fixed timeouts and limits of pods of an API server. */

/** Maximum number of statuses that are sent concurrently. */
export const STATUSES_AT_ONCE = 8;
/** Delay of the status of a Pending pod: most pods run within this time, so that one patch is enough. */
export const PENDING_STATUS_HOLD_MS = 100;
/** Period of comparing the API server's statuses with the kubelet's, as upstream. */
export const STATUS_RECONCILE_MS = 10_000;
/** Backoff of status patches while the API server does not answer. */
export const STATUS_OUTAGE_BACKOFF = { initialMs: 500, maxMs: 10_000 };
/** Backoff of changes of mirror pods. */
export const MIRROR_BACKOFF = { initialMs: 1000, maxMs: 60_000 };
