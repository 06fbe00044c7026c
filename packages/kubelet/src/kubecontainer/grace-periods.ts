/** Grace periods of containers between SIGTERM and SIGKILL. */

/** Minimum between SIGTERM and SIGKILL, unless an immediate kill is requested. */
export const MINIMUM_GRACE_SECONDS = 2;
export const DEFAULT_GRACE_SECONDS = 30;
/** 68 years. Longer grace periods are reduced to it, because dates and timers cannot represent 2^63 seconds. */
export const MAX_GRACE_SECONDS = 2 ** 31 - 1;
/** Minimum for pods from an API server. */
export const LEAST_GRACE_SECONDS = 1;
/** Time in addition to the grace period after which a StopContainer call times out. */
export const STOP_MARGIN_MS = 120_000;
