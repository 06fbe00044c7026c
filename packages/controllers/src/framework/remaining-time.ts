/** Clocks of nodes may differ by this time, in milliseconds. */
const MAX_SKEW_MS = 60_000;

/**
 * Whether a time was recorded before the system time was set back: it is too far in the future. Such a time says nothing: to wait for it
 * could take a day. Both are Unix times in milliseconds.
 */
export function isFromBefore(timeMs: number, nowMs: number): boolean {
  return timeMs > nowMs + MAX_SKEW_MS;
}

/** Returns what is left of a delay that began at `sinceMs`, in milliseconds: nothing if the system time was set back since then. */
export function remainingMs(sinceMs: number, delayMs: number, nowMs: number): number {
  return isFromBefore(sinceMs, nowMs) ? 0 : Math.max(0, sinceMs + delayMs - nowMs);
}
