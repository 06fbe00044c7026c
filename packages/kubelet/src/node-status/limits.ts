/** The node of a cluster: timers and bounds that are not options, with their sources. */

/** Pauses between tries to register (kubelet_node_status.go, registerWithAPIServer). */
export const NODE_REGISTRATION_BACKOFF = { initialMs: 100, maxMs: 7000, resetMs: Number.POSITIVE_INFINITY };
/** Tries to tell the status, and to renew the lease, before the next period is waited for (nodeStatusUpdateRetry, maxUpdateRetries). */
export const NODE_STATUS_TRIES = 5;
export const LEASE_TRIES = 5;
/** Pauses between tries to make the lease. */
export const LEASE_BACKOFF = { initialMs: 200, maxMs: 7000, resetMs: Number.POSITIVE_INFINITY };
/** Periods of heartbeats are longer by up to this share, so that those of many nodes do not meet. */
export const HEARTBEAT_JITTER = 0.04;
/** What makes a node ready, or not any more, is told at once, but no sooner than this after the last time: upstream's fast path at the start. */
export const NODE_PROMPT_PERIOD_MS = 100;
/** The images of a node are listed this often (image_gc_manager.go). */
export const NODE_IMAGES_PERIOD_MS = 30_000;
/** Pauses between tries to make the CSINode: a few short ones, and between such rounds long ones, of which the last is repeated. */
export const CSI_NODE_QUICK_RETRIES_MS = [10, 50, 250];
export const CSI_NODE_RETRIES_MS = [30, 240, 1920, 15_360, 122_880];
/** How often it is asked whether the API server answers at all. */
export const API_WAIT_MS = 1000;
