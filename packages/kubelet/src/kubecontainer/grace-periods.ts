/** Grace periods of containers between SIGTERM and SIGKILL. */

/** Minimum time between SIGTERM and SIGKILL, except for immediate kills. */
export const MINIMUM_GRACE_SECONDS = 2;
export const DEFAULT_GRACE_SECONDS = 30;
/** Maximum grace period (68 years). Longer ones are clamped, because dates and timers cannot represent 2^63 seconds. */
export const MAX_GRACE_SECONDS = 2 ** 31 - 1;
/** Minimum grace period of pods from an API server. */
export const LEAST_GRACE_SECONDS = 1;
/** How much longer the timeout of a StopContainer call is than the grace period. */
export const STOP_MARGIN_MS = 120_000;
