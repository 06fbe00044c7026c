/** Retry interval of a pod that waits for the runtime, its network or a device plugin (upstream: backOffOnTransientErrorPeriod). */
export const HELD_RETRY_MS = 1000;
