/** How long the runtime may take to tell what its pods use. */
export const STATISTICS_TIMEOUT_MS = 30_000;
