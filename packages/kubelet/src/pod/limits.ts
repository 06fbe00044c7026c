/**
 * Retry interval for a pod that is waiting for the container runtime, its network or a device plugin (upstream's
 * backOffOnTransientErrorPeriod).
 */
export const HELD_RETRY_MS = 1000;

/** Delay before the next attempt to start a pod that waits because one of its claims exceeds its capacity. */
export const CLAIM_RETRY_MS = 10_000;
