import { DEFAULT_HARD_THRESHOLDS, LONE_HARD_THRESHOLDS, type ThresholdSettings } from '../thresholds/thresholds.ts';

/** How often to check node resources and the size limits of volumes (upstream's evictionMonitoringPeriod). */
const EVICTION_PERIOD_MS = 10_000;

/** Thresholds and periods of node-pressure eviction; KubeletConfiguration's `eviction*` fields. */
export type EvictionOptions = Omit<ThresholdSettings, 'hard'> & {
  /** `evictionHard`. If absent, upstream's defaults apply in a cluster, and lower disk thresholds on a standalone node. */
  hard?: ThresholdSettings['hard'];
  /** How long a pressure condition remains after it was last observed, in milliseconds (`evictionPressureTransitionPeriod`). */
  transitionMs: number;
  /** Maximum grace period of pods that are evicted for a soft threshold, in seconds (`evictionMaxPodGracePeriod`). */
  maxPodGraceSeconds: number;
  /** How often to check, in milliseconds. */
  periodMs: number;
};

/** Upstream's defaults. */
export const DEFAULT_EVICTION: EvictionOptions = {
  soft: {},
  softGracePeriod: {},
  minimumReclaim: {},
  transitionMs: 300_000,
  maxPodGraceSeconds: 0,
  periodMs: EVICTION_PERIOD_MS,
};

export function thresholdSettings({ hard, ...eviction }: EvictionOptions, isLone: boolean): ThresholdSettings {
  return { ...eviction, hard: hard ?? (isLone ? LONE_HARD_THRESHOLDS : DEFAULT_HARD_THRESHOLDS) };
}
