/** Maximum clock skew between nodes, in milliseconds. */
const MAX_SKEW_MS = 60_000;

/**
 * Whether a time is so far in the future that it must have been recorded before the system time was set back. Such times are meaningless,
 * and waiting for them could take a day. Both arguments are Unix times in milliseconds.
 */
export function isFromBefore(timeMs: number, nowMs: number): boolean {
  return timeMs > nowMs + MAX_SKEW_MS;
}

/** Returns how much remains of a delay that began at `sinceMs`, in milliseconds; 0 if the system time was set back since `sinceMs`. */
export function remainingMs(sinceMs: number, delayMs: number, nowMs: number): number {
  return isFromBefore(sinceMs, nowMs) ? 0 : Math.max(0, sinceMs + delayMs - nowMs);
}
