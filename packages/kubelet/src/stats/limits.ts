/** Timeout of the runtime's statistics calls. */
export const STATISTICS_TIMEOUT_MS = 30_000;
