import { type Observations, thresholdsMet } from './observed-signals.ts';
import { conditionOf, isOfMemory, type PressureCondition } from './signals.ts';
import type { Threshold } from './thresholds.ts';

/** Eviction state carried over from one round to the next. Times are monotonic milliseconds. */
export type ThresholdMemory = {
  /** When each currently met threshold was first met. */
  metSinceMs: ReadonlyMap<Threshold, number>;
  /** Thresholds met for longer than their grace period in the last round. They stay met until their minimum reclaim has been freed too. */
  acute: readonly Threshold[];
  /** When each pressure condition was last observed. */
  seenAtMs: ReadonlyMap<PressureCondition, number>;
};

export const NOTHING_MET: ThresholdMemory = { metSinceMs: new Map(), acute: [], seenAtMs: new Map() };

export type Judgement = {
  memory: ThresholdMemory;
  /** Pressure conditions that apply now or applied within the transition period. */
  conditions: PressureCondition[];
  /** Thresholds that require evicting a pod now, memory thresholds first. */
  pressing: Threshold[];
};

export type JudgeInput = {
  thresholds: readonly Threshold[];
  observations: Observations;
  nowMs: number;
  /** How long a pressure condition persists after it was last observed. */
  transitionMs: number;
};

/** Decides what one round of the eviction manager does (upstream's synchronize). Pure function. */
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
