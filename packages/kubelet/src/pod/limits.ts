/** Retry interval of a pod that is waiting for the runtime, its network or a device plugin (upstream's backOffOnTransientErrorPeriod). */
export const HELD_RETRY_MS = 1000;
