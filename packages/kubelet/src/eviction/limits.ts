/** How long an eviction round waits for volume usage to be measured. Late results are used by a later round. */
export const EVICTION_MEASURE_MS = 1000;

/**
 * How long an eviction waits for pod usage to be measured before it ranks the pods by their last known usage. Also the timeout for each
 * step that removes unused containers or images.
 */
export const EVICTION_RANK_MS = 5000;

/** Poll interval while waiting for pods to be cleaned up and for the space of removed files to be freed. */
export const EVICTION_LOOK_MS = 250;

/**
 * How long to wait for evicted pods to be cleaned up before the next round (podCleanupTimeout), and then for their disk space to be freed.
 */
export const EVICTION_CLEAN_UP_MS = 30_000;
