/** Minimum window over which CPU usage is measured, because the kernel counts CPU time in ticks of up to 10 ms. */
export const LEAST_USAGE_WINDOW_MS = 500;
