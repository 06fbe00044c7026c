/** Grace periods of containers between SIGTERM and SIGKILL. */

/** Minimum time between SIGTERM and SIGKILL, unless an immediate kill is requested. */
export const MINIMUM_GRACE_SECONDS = 2;
export const DEFAULT_GRACE_SECONDS = 30;
/** Maximum grace period (68 years); longer ones are capped, because dates and timers cannot represent 2^63 seconds. */
export const MAX_GRACE_SECONDS = 2 ** 31 - 1;
/** Minimum grace period of pods from an API server. */
export const LEAST_GRACE_SECONDS = 1;
/** Time by which the timeout of a StopContainer call exceeds the grace period. */
export const STOP_MARGIN_MS = 120_000;
