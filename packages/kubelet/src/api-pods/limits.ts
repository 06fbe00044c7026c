/** Pods of an API server: timers and bounds that are not options, with their sources. */

/** So many statuses are sent at a time; one a pod. */
export const STATUSES_AT_ONCE = 8;
/** A status of a pod that is Pending waits so long for the next one: most pods run by then, and one patch tells it. */
export const PENDING_STATUS_HOLD_MS = 100;
/** How often what the API server shows of pods is compared with their statuses, as upstream. */
export const STATUS_RECONCILE_MS = 10_000;
/** Delays between tries while the API server does not answer. */
export const STATUS_OUTAGE_BACKOFF = { initialMs: 500, maxMs: 10_000 };
/** The same for mirror pods. */
export const MIRROR_BACKOFF = { initialMs: 1000, maxMs: 60_000 };
