import {
  DEFAULT_HARD_THRESHOLDS,
  STANDALONE_HARD_THRESHOLDS,
  type ThresholdSettings,
} from '../thresholds/thresholds.ts';

/** How often node resources and volume size limits are checked (upstream's evictionMonitoringPeriod). */
const EVICTION_PERIOD_MS = 10_000;

/** Thresholds and periods for node-pressure eviction: the `eviction*` fields of KubeletConfiguration. */
export type EvictionOptions = Omit<ThresholdSettings, 'hard'> & {
  /** `evictionHard`. If unset, upstream's defaults apply in a cluster, and lower disk thresholds on a standalone node. */
  hard?: ThresholdSettings['hard'];
  /** How long a pressure condition persists after it was last observed, in milliseconds (`evictionPressureTransitionPeriod`). */
  transitionMs: number;
  /** Maximum grace period for evictions due to a soft threshold, in seconds (`evictionMaxPodGracePeriod`). */
  maxPodGraceSeconds: number;
  /** How often the thresholds are checked, in milliseconds. */
  periodMs: number;
};

/** Upstream's default eviction options. */
export const DEFAULT_EVICTION: EvictionOptions = {
  soft: {},
  softGracePeriod: {},
  minimumReclaim: {},
  transitionMs: 300_000,
  maxPodGraceSeconds: 0,
  periodMs: EVICTION_PERIOD_MS,
};

export function thresholdSettings({ hard, ...eviction }: EvictionOptions, isStandalone: boolean): ThresholdSettings {
  return { ...eviction, hard: hard ?? (isStandalone ? STANDALONE_HARD_THRESHOLDS : DEFAULT_HARD_THRESHOLDS) };
}
