/** The kubelet's timers and bounds that are no options, with where they come from. */

/** How often sources are read again though nothing seemed to change: upstream's fileCheckFrequency and httpCheckFrequency. */
export const SOURCE_PERIOD_MS = 20_000;

/** Upstream's periods of garbage collection and of log rotation. */
export const CONTAINER_GC_PERIOD_MS = 60_000;
export const IMAGE_GC_PERIOD_MS = 300_000;
export const LOG_ROTATION_PERIOD_MS = 10_000;
/** How often pods that no source has are looked for. */
export const ORPHAN_PERIOD_MS = 60_000;
/** How often the volumes of pods are measured: upstream's monitoring period of the eviction manager. */
export const VOLUME_LIMITS_PERIOD_MS = 10_000;
