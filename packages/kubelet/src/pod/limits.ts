/**
 * Retry interval for a pod that is waiting for the container runtime, its network or a device plugin (upstream's
 * backOffOnTransientErrorPeriod).
 */
export const HELD_RETRY_MS = 1000;
