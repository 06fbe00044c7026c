import { waitFor } from '@podwright/base';

/** Polls until `probe` returns a value, for at most two minutes. */
export function until<T>(probe: () => Promise<T | undefined> | T | undefined, intervalMs = 5): Promise<T> {
  return waitFor(probe, { intervalMs, signal: AbortSignal.timeout(120_000) });
}
