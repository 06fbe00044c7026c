/** Timeout for CRI statistics calls. */
export const STATISTICS_TIMEOUT_MS = 30_000;
