/** CPU is measured over at least this time: the kernel counts in ticks of up to 10 ms. */
export const LEAST_USAGE_WINDOW_MS = 500;
