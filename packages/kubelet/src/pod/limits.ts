/** How long a pod waits that is held up by the runtime or its network (backOffOnTransientErrorPeriod). */
export const HELD_RETRY_MS = 1000;
