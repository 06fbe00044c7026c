import { conditionOf, isOfMemory, type PressureCondition, type Threshold } from '@podwright/kubelet-configuration';
import { type Observations, thresholdsMet } from './observed-signals.ts';

/** State from one round to the next. Times are monotonic milliseconds. */
export type ThresholdMemory = {
  /** Thresholds that are met, and since when. */
  metSinceMs: ReadonlyMap<Threshold, number>;
  /** Met thresholds whose grace period was over in the last round: they last until the minimum reclaim is free, too. */
  acute: readonly Threshold[];
  /** When each condition was last observed. */
  seenAtMs: ReadonlyMap<PressureCondition, number>;
};

export const NOTHING_MET: ThresholdMemory = { metSinceMs: new Map(), acute: [], seenAtMs: new Map() };

export type Judgement = {
  memory: ThresholdMemory;
  /** Conditions that hold, or held within the transition period. */
  conditions: PressureCondition[];
  /** Thresholds for which pods are evicted now; those of memory come first. */
  pressing: Threshold[];
};

export type JudgeInput = {
  thresholds: readonly Threshold[];
  observations: Observations;
  nowMs: number;
  /** How long a condition is reported after it was last observed. */
  transitionMs: number;
};

/** The decisions of a round of the eviction manager (upstream's synchronize). Pure. */
export function judgeThresholds(before: ThresholdMemory, input: JudgeInput): Judgement {
  const { thresholds, observations, nowMs, transitionMs } = input;
  const met = new Set([
    ...thresholdsMet(thresholds, observations, { withReclaim: false }),
    ...thresholdsMet(before.acute, observations, { withReclaim: true }),
  ]);
  const metSinceMs = new Map([...met].map((one) => [one, before.metSinceMs.get(one) ?? nowMs]));
  const seen = [...met].map(({ signal }): [PressureCondition, number] => [conditionOf(signal), nowMs]);
  const seenAtMs = new Map([...before.seenAtMs, ...seen]);
  const acute = [...metSinceMs].filter(([one, sinceMs]) => nowMs - sinceMs >= one.gracePeriodMs).map(([one]) => one);
  return {
    memory: { metSinceMs, acute, seenAtMs },
    conditions: [...seenAtMs]
      .filter(([, atMs]) => atMs === nowMs || nowMs - atMs < transitionMs)
      .map(([condition]) => condition),
    pressing: acute.toSorted((a, b) => Number(isOfMemory(b.signal)) - Number(isOfMemory(a.signal))),
  };
}
