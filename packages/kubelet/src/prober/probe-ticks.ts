/** When a probe is due: at `anchorMs` and every period after it, whatever the probes themselves take. Times are monotonic. */
export type ProbeTicks = { anchorMs: number; periodMs: number };

/** The first tick that is not before `fromMs`. */
export function tickFrom({ anchorMs, periodMs }: ProbeTicks, fromMs: number): number {
  return anchorMs + Math.max(0, Math.ceil((fromMs - anchorMs) / periodMs)) * periodMs;
}

/**
 * The tick that is served after the one of `servedMs`. Ticks that passed meanwhile are served once, by the last of them: a probe
 * that takes longer than its period is made again at once, but no more often than that.
 */
export function tickAfter({ periodMs }: ProbeTicks, servedMs: number, nowMs: number): number {
  return servedMs + Math.max(1, Math.floor((nowMs - servedMs) / periodMs)) * periodMs;
}
