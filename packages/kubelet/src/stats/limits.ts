/** Timeout for CRI statistics calls. */
export const STATISTICS_TIMEOUT_MS = 30_000;

/** `refreshMs`: cAdvisor's housekeeping interval. `demandMs`: longer than Prometheus's default interval between scrapes. */
export const STATISTICS_CACHE = { refreshMs: 10_000, demandMs: 90_000 };
