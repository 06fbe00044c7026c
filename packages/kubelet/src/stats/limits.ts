/** Timeout for CRI statistics calls. */
export const STATISTICS_TIMEOUT_MS = 30_000;

/** Cached statistics are as old as cAdvisor's housekeeping interval at most. Prometheus scrapes once a minute by default. */
export const STATISTICS_CACHE = { refreshMs: 10_000, demandMs: 90_000 };
