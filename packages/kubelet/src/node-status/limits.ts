/** Fixed timeouts and limits of the node object, the lease and the CSINode. */

/** Backoff between tries to register (kubelet_node_status.go, registerWithAPIServer). */
export const NODE_REGISTRATION_BACKOFF = { initialMs: 100, maxMs: 7000, resetMs: Number.POSITIVE_INFINITY };
/** Tries to report the status and to renew the lease within one period (nodeStatusUpdateRetry, maxUpdateRetries). */
export const NODE_STATUS_TRIES = 5;
export const LEASE_TRIES = 5;
/** Backoff between tries to create the lease. */
export const LEASE_BACKOFF = { initialMs: 200, maxMs: 7000, resetMs: Number.POSITIVE_INFINITY };
/** Heartbeat periods are extended by a random share up to this, so that nodes do not synchronize. */
export const HEARTBEAT_JITTER = 0.04;
/** Changes of readiness are reported at once, but at least this long after the last report, like upstream's fast path at the start. */
export const NODE_PROMPT_PERIOD_MS = 100;
/** Period of listing the node's images (image_gc_manager.go). */
export const NODE_IMAGES_PERIOD_MS = 30_000;
/** Pauses between tries to create the CSINode: short ones within a round, long ones between rounds; the last is repeated. */
export const CSI_NODE_QUICK_RETRIES_MS = [10, 50, 250];
export const CSI_NODE_RETRIES_MS = [30, 240, 1920, 15_360, 122_880];
/** Poll interval while the API server does not answer. */
export const API_WAIT_MS = 1000;
