/** How far and how fast an autoscaler may scale (upstream's podautoscaler/horizontal.go, normalizeDesiredReplicas). Pure. */
import type { ScalingBehavior, ScalingRules } from '../objects/horizontal-pod-autoscaler.ts';

/** Default scale-down stabilization window (horizontal-pod-autoscaler-downscale-stabilization), in seconds. */
const DOWN_WINDOW_SECONDS = 300;
/** Without `behavior`, an autoscaler at most doubles the replicas, but can always scale up to four. */
const GROWTH_FACTOR = 2;
const GROWTH_MINIMUM = 4;

/** A number of replicas recommended by an earlier evaluation. `atMs` is Unix time in milliseconds. */
export type Recommendation = { replicas: number; atMs: number };
/** A change in the number of replicas. `by` is its absolute value, so it is positive even when scaling down. */
export type ScaleChange = { by: number; atMs: number };

/** The recent recommendations and changes of an autoscaler. In memory only. */
export type ScalingHistory = {
  recommendations: readonly Recommendation[];
  ups: readonly ScaleChange[];
  downs: readonly ScaleChange[];
};

/** The history of an autoscaler that has not been evaluated yet. */
export const NO_HISTORY: ScalingHistory = { recommendations: [], ups: [], downs: [] };

type Reason = { reason: string; message: string };

/** A number of replicas after limits, with the reason and message for the `ScalingLimited` or `AbleToScale` condition. */
export type Limited = Reason & { replicas: number };

export type LimitInput = {
  behavior: ScalingBehavior | undefined;
  history: ScalingHistory;
  current: number;
  /** The number of replicas proposed by the metrics. */
  desired: number;
  min: number;
  max: number;
  nowMs: number;
};

const HIGHEST: Reason = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const LOWEST: Reason = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const TOO_FAST_UP: Reason = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const TOO_FAST_DOWN: Reason = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};
const TOO_MANY: Reason = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const TOO_FEW: Reason = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};
const WITHIN: Reason = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};

/** Applies the stabilization windows. Returns the replicas, and the recommendations including the new one. */
export function stabilize(input: LimitInput): Limited & { recommendations: Recommendation[] } {
  const { behavior, history, current, desired, nowMs } = input;
  const upWindowMs = behavior === undefined ? 0 : windowMs(behavior.scaleUp, 0);
  const downWindowMs = windowMs(behavior?.scaleDown, DOWN_WINDOW_SECONDS);
  const known = history.recommendations.filter(({ atMs }) => atMs <= nowMs); // the system time may have been set back
  const since = (ms: number) => known.filter(({ atMs }) => atMs > nowMs - ms).map(({ replicas }) => replicas);
  const highest = since(downWindowMs).reduce((a, b) => Math.max(a, b), desired);
  const lowest = since(upWindowMs).reduce((a, b) => Math.min(a, b), desired);
  const replicas = behavior === undefined ? highest : Math.min(Math.max(current, lowest), highest);
  const why = behavior !== undefined && desired >= current ? LOWEST : HIGHEST;
  const kept = known.filter(({ atMs }) => atMs >= nowMs - Math.max(upWindowMs, downWindowMs));
  return { replicas, ...why, recommendations: [...kept, { replicas: desired, atMs: nowMs }] };
}

const windowMs = (rules: ScalingRules | undefined, defaultSeconds: number) =>
  (rules?.stabilizationWindowSeconds ?? defaultSeconds) * 1000;

/** Limits the desired replicas to `min` and `max`, and to the rates allowed by the scaling policies. */
export function limit(input: LimitInput): Limited {
  const { behavior, current, desired } = input;
  if (behavior === undefined) return limitPlainly(input);
  if (desired > current) return limitGrowth(input, behavior.scaleUp ?? {});
  if (desired < current) return limitDecline(input, behavior.scaleDown ?? {});
  return { replicas: desired, ...WITHIN };
}

function limitPlainly({ current, desired, min, max }: LimitInput): Limited {
  const rate = Math.max(GROWTH_FACTOR * current, GROWTH_MINIMUM);
  if (desired < min) return { replicas: min, ...TOO_FEW };
  if (desired > Math.min(rate, max))
    return max > rate ? { replicas: rate, ...TOO_FAST_UP } : { replicas: max, ...TOO_MANY };
  return { replicas: desired, ...WITHIN };
}

function limitGrowth(input: LimitInput, rules: ScalingRules): Limited {
  const { current, desired, max } = input;
  const proposals = proposalsOf(input, rules, ({ type, value }, start) =>
    type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100)),
  );
  const select = rules.selectPolicy === 'Min' ? Math.min : Math.max;
  const rate = Math.max(proposals === undefined ? current : select(...proposals), current);
  if (desired <= Math.min(rate, max)) return { replicas: desired, ...WITHIN };
  return max > rate ? { replicas: rate, ...TOO_FAST_UP } : { replicas: max, ...TOO_MANY };
}

function limitDecline(input: LimitInput, rules: ScalingRules): Limited {
  const { current, desired, min } = input;
  const proposals = proposalsOf(input, rules, ({ type, value }, start) =>
    type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100)),
  );
  const select = rules.selectPolicy === 'Min' ? Math.max : Math.min;
  const rate = Math.min(proposals === undefined ? current : select(...proposals), current);
  if (desired >= Math.max(rate, min)) return { replicas: desired, ...WITHIN };
  return min < rate ? { replicas: rate, ...TOO_FAST_DOWN } : { replicas: min, ...TOO_FEW };
}

type Policy = NonNullable<ScalingRules['policies']>[number];

/**
 * Returns the replica limit that each policy allows, based on the replicas at the start of its period; undefined if scaling in this
 * direction is disabled.
 */
function proposalsOf(
  { history, current, nowMs }: LimitInput,
  { selectPolicy, policies = [] }: ScalingRules,
  propose: (policy: Policy, start: number) => number,
): number[] | undefined {
  if (selectPolicy === 'Disabled' || policies.length === 0) return undefined;
  return policies.map((policy) => {
    const sinceMs = nowMs - policy.periodSeconds * 1000;
    const period = { sinceMs, nowMs };
    const start = current - changed(history.ups, period) + changed(history.downs, period);
    return propose(policy, start);
  });
}

const changed = (changes: readonly ScaleChange[], { sinceMs, nowMs }: { sinceMs: number; nowMs: number }) =>
  changes.reduce((sum, { by, atMs }) => (atMs > sinceMs && atMs <= nowMs ? sum + by : sum), 0);

/** Returns the history with a change added. Drops changes in the same direction that are older than all policy periods. */
export function withChange(
  history: ScalingHistory,
  behavior: ScalingBehavior | undefined,
  { from, to, nowMs }: { from: number; to: number; nowMs: number },
): ScalingHistory {
  if (behavior === undefined) return history;
  const name = to > from ? 'ups' : 'downs';
  const { policies = [] } = (to > from ? behavior.scaleUp : behavior.scaleDown) ?? {};
  const longestMs = policies.reduce((longest, { periodSeconds }) => Math.max(longest, periodSeconds * 1000), 0);
  const kept = history[name].filter(({ atMs }) => atMs >= nowMs - longestMs && atMs <= nowMs);
  return { ...history, [name]: [...kept, { by: Math.abs(to - from), atMs: nowMs }] };
}
