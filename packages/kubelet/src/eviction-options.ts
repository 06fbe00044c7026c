import {
  DEFAULT_HARD_THRESHOLDS,
  LONE_HARD_THRESHOLDS,
  type ThresholdSettings,
} from '@podwright/kubelet-configuration';

/** How often the node is looked at for what it is short of, and the volumes of pods for their limits (evictionMonitoringPeriod). */
const EVICTION_PERIOD_MS = 10_000;

/** When pods are evicted because the node runs short, and how: KubeletConfiguration's fields that begin with `eviction`. */
export type EvictionOptions = Omit<ThresholdSettings, 'hard'> & {
  /** Absent: upstream's defaults in a cluster, smaller shares of the disk on a lone node. */
  hard?: ThresholdSettings['hard'];
  /** A condition of pressure is told for so long after it was last seen. */
  transitionMs: number;
  /** The longest grace period of pods that are evicted for a soft threshold. */
  maxPodGraceSeconds: number;
  /** How often the node is looked at. */
  periodMs: number;
};

/** Upstream's. */
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
