/** Fixed timeouts and limits of pods from an API server. */

/** Maximum number of status patches in flight. */
export const STATUSES_AT_ONCE = 8;
/** Delay before a Pending pod's status is sent: most pods run within this time, so one patch is enough. */
export const PENDING_STATUS_HOLD_MS = 100;
/** Interval at which the API server's statuses are compared with the kubelet's, as in upstream. */
export const STATUS_RECONCILE_MS = 10_000;
/** Backoff of status patches while the API server is unreachable. */
export const STATUS_OUTAGE_BACKOFF = { initialMs: 500, maxMs: 10_000 };
/** Backoff of failed creations and deletions of mirror pods. */
export const MIRROR_BACKOFF = { initialMs: 1000, maxMs: 60_000 };
