/**
 * Retry interval for a pod that is waiting for the container runtime, its network or a device plugin (upstream's
 * backOffOnTransientErrorPeriod).
 */
export const HELD_RETRY_MS = 1000;

/** Retry interval for starting a pod that is held up because one of its PVCs exceeds its capacity. */
export const CLAIM_RETRY_MS = 10_000;
