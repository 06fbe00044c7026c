/** Timeouts and limits of the Node object, the lease and the CSINode; not configurable. */

/** Back-off between registration attempts (kubelet_node_status.go, registerWithAPIServer). */
export const NODE_REGISTRATION_BACKOFF = { initialMs: 100, maxMs: 7000, resetMs: Number.POSITIVE_INFINITY };
/** Attempts per period to report the status and to renew the lease (nodeStatusUpdateRetry, maxUpdateRetries). */
export const NODE_STATUS_TRIES = 5;
export const LEASE_TRIES = 5;
/** Back-off between attempts to create the lease. */
export const LEASE_BACKOFF = { initialMs: 200, maxMs: 7000, resetMs: Number.POSITIVE_INFINITY };
/** Jitter: each heartbeat period is extended by up to this fraction, so that nodes do not synchronize. */
export const HEARTBEAT_JITTER = 0.04;
/**
 * Minimum interval between node status reports. Subject to this, readiness changes are reported immediately, as upstream's fast path at
 * startup does.
 */
export const NODE_PROMPT_PERIOD_MS = 100;
/** Interval at which the node's images are listed (image_gc_manager.go). */
export const NODE_IMAGES_PERIOD_MS = 30_000;
/**
 * Pauses between attempts to create the CSINode within one round of attempts. `CSI_NODE_RETRIES_MS` are the pauses between rounds; its last
 * one is repeated.
 */
export const CSI_NODE_QUICK_RETRIES_MS = [10, 50, 250];
export const CSI_NODE_RETRIES_MS = [30, 240, 1920, 15_360, 122_880];
/** Poll interval while the API server is not responding. */
export const API_WAIT_MS = 1000;
