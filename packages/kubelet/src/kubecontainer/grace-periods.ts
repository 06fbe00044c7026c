/** Grace periods of containers between SIGTERM and SIGKILL. */

/** A container has at least this long between SIGTERM and SIGKILL, unless it is killed at once on request. */
export const MINIMUM_GRACE_SECONDS = 2;
export const DEFAULT_GRACE_SECONDS = 30;
/** 68 years. A longer grace period acts as this one: dates and timers have no room for 2^63 seconds. */
export const MAX_GRACE_SECONDS = 2 ** 31 - 1;
/** Pods of an API server have at least this long. */
export const LEAST_GRACE_SECONDS = 1;
/** Stopping may take this much longer than the grace period before the runtime counts as hanging. */
export const STOP_MARGIN_MS = 120_000;
