/** Timeout for CRI statistics calls. */
export const STATISTICS_TIMEOUT_MS = 30_000;

/**
 * When cached statistics are refreshed: at the age of cAdvisor's housekeeping interval (`refreshMs`), for as long as they are requested at
 * least every `demandMs`, which is longer than Prometheus's default scrape interval.
 */
export const STATISTICS_CACHE = { refreshMs: 10_000, demandMs: 90_000 };
