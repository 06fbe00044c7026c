import { DEFAULT_HARD_THRESHOLDS, type ThresholdSettings } from './eviction/thresholds/thresholds.ts';
import { EVICTION_PERIOD_MS } from './limits.ts';

/** When pods are evicted because the node runs short, and how: KubeletConfiguration's fields that begin with `eviction`. */
export type EvictionOptions = ThresholdSettings & {
  /** A condition of pressure is told for so long after it was last seen. */
  transitionMs: number;
  /** The longest grace period of pods that are evicted for a soft threshold. */
  maxPodGraceSeconds: number;
  /** How often the node is looked at. */
  periodMs: number;
};

/** Upstream's. */
export const DEFAULT_EVICTION: EvictionOptions = {
  hard: DEFAULT_HARD_THRESHOLDS,
  soft: {},
  softGracePeriod: {},
  minimumReclaim: {},
  transitionMs: 300_000,
  maxPodGraceSeconds: 0,
  periodMs: EVICTION_PERIOD_MS,
};
