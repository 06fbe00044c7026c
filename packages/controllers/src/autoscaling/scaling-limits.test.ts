/** Cases from upstream's TestConvertDesiredReplicasWithRules, TestScalingWithRules and TestNormalizeDesiredReplicas(WithBehavior). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScalingBehavior, ScalingRules } from '../objects/horizontal-pod-autoscaler.ts';
import { type LimitInput, limit, NO_HISTORY, type ScaleChange, stabilize, withChange } from './scaling-limits.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

type Case = {
  from: number;
  wants: number;
  min?: number;
  max?: number;
  up?: Rules;
  down?: Rules;
  ups?: number[];
  downs?: number[];
};
/** Scaling policies: a number of pods and a percentage, each with its period in seconds. 0 means that there is no such policy. */
type Rules = [pods: number, podsPeriod: number, percent: number, percentPeriod: number];

const DEFAULT_UP: Rules = [4, 15, 100, 15];
const DEFAULT_DOWN: Rules = [0, 0, 100, 15];

function rules([pods, podsPeriod, percent, percentPeriod]: Rules): ScalingRules {
  const policies = [
    { type: 'Pods' as const, value: pods, periodSeconds: podsPeriod },
    { type: 'Percent' as const, value: percent, periodSeconds: percentPeriod },
  ];
  return { selectPolicy: 'Max', policies: policies.filter(({ value }) => value > 0) };
}

/** Returns these changes in the number of replicas, spread evenly over the last two minutes: each is in the middle of its time slot. */
const spread = (changes: readonly number[]): ScaleChange[] =>
  changes.map((by, index) => {
    const part = 120 / changes.length;
    return { by, atMs: NOW - Math.trunc(120 - part * (index + 1) + part / 2) * 1000 };
  });

function inputOf({ from, wants, min = 1, max = 1000, up, down, ups = [], downs = [] }: Case): LimitInput {
  const behavior = { scaleUp: rules(up ?? DEFAULT_UP), scaleDown: rules(down ?? DEFAULT_DOWN) };
  const history = { recommendations: [], ups: spread(ups), downs: spread(downs) };
  return { behavior, history, current: from, desired: wants, min, max, nowMs: NOW };
}

function check(asked: Case, replicas: number, reason: string): void {
  const limited = limit(inputOf(asked));
  assert.deepEqual([limited.replicas, limited.reason], [replicas, reason], JSON.stringify(asked));
}

function checkPlain(asked: Case, replicas: number, reason: string): void {
  const limited = limit({ ...inputOf(asked), behavior: undefined });
  assert.deepEqual([limited.replicas, limited.reason], [replicas, reason], JSON.stringify(asked));
}

const WITHIN = 'DesiredWithinRange';

test('without rules, an autoscaler stays within its range and at most doubles the replicas', () => {
  checkPlain({ from: 5, wants: 7, min: 3, max: 8 }, 7, WITHIN);
  checkPlain({ from: 3, wants: 1, min: 2, max: 8 }, 2, 'TooFewReplicas');
  checkPlain({ from: 1, wants: 0, min: 0, max: 10 }, 0, WITHIN);
  checkPlain({ from: 20, wants: 1000, max: 10 }, 10, 'TooManyReplicas');
  checkPlain({ from: 3, wants: 1000, max: 2000 }, 6, 'ScaleUpLimit');
  checkPlain({ from: 1, wants: 9 }, 4, 'ScaleUpLimit');
});

test('rules limit scaling up by pods and percent per period', () => {
  check({ from: 5, wants: 7, min: 3, max: 8 }, 7, WITHIN);
  check({ from: 20, wants: 1000, max: 10 }, 10, 'TooManyReplicas');
  check({ from: 100, wants: 1000, min: 100, max: 150 }, 150, 'TooManyReplicas');
  check({ from: 3, wants: 1000, up: [0, 0, 1, 60] }, 4, 'ScaleUpLimit');
  check({ from: 10, wants: 50 }, 20, 'ScaleUpLimit');
  check({ from: 10, wants: 500, up: [100, 60, 100, 60] }, 110, 'ScaleUpLimit');
  check({ from: 10, wants: 500, up: [2, 60, 100, 60] }, 20, 'ScaleUpLimit');
  check({ from: 10, wants: 50, up: [100, 60, 0, 0] }, 50, WITHIN);
  check({ from: 10, wants: 50, up: [30, 60, 0, 0] }, 40, 'ScaleUpLimit');
  check({ from: 10, wants: 50, up: [0, 0, 200, 60] }, 30, 'ScaleUpLimit');
});

test('rules limit scaling down by pods and percent per period', () => {
  check({ from: 3, wants: 1, min: 2, max: 8 }, 2, 'TooFewReplicas');
  check({ from: 1, wants: 0, min: 0, max: 10 }, 0, WITHIN);
  check({ from: 1000, wants: 3, min: 3, max: 2000, down: [20, 60, 0, 0] }, 980, 'ScaleDownLimit');
  check({ from: 100, wants: 2, down: [20, 60, 1, 60] }, 80, 'ScaleDownLimit');
  check({ from: 100, wants: 2, down: [2, 60, 1, 60] }, 98, 'ScaleDownLimit');
  check({ from: 10, wants: 0, down: [100, 60, 0, 0] }, 1, 'TooFewReplicas');
  check({ from: 10, wants: 2, min: 5, down: [0, 0, 100, 60] }, 5, 'TooFewReplicas');
  check({ from: 10, wants: 2, down: [5, 60, 0, 0] }, 5, 'ScaleDownLimit');
  check({ from: 10, wants: 5, down: [0, 0, 50, 60] }, 5, WITHIN);
});

test('earlier changes within a period count', () => {
  const ups = [1, 5, 9];
  check({ from: 100, wants: 500, max: 200, ups, up: [300, 60, 0, 0] }, 200, 'TooManyReplicas');
  check({ from: 100, wants: 500, ups, up: [5, 120, 0, 0] }, 100, 'ScaleUpLimit');
  check({ from: 100, wants: 500, ups, up: [150, 120, 0, 0] }, 235, 'ScaleUpLimit');
  check({ from: 100, wants: 500, ups, up: [0, 0, 200, 120] }, 255, 'ScaleUpLimit');
  check({ from: 6, wants: 24, ups: [4], downs: [2], up: [0, 0, 300, 300] }, 16, 'ScaleUpLimit');
  const downs = [1, 5, 9];
  check({ from: 10, wants: 5, downs }, 5, WITHIN);
  check({ from: 100, wants: 0, downs, down: [115, 120, 0, 0] }, 1, 'TooFewReplicas');
  check({ from: 100, wants: 2, min: 5, downs, down: [0, 0, 100, 120] }, 5, 'TooFewReplicas');
  check({ from: 100, wants: 2, downs, down: [5, 120, 0, 0] }, 100, 'ScaleDownLimit');
  check({ from: 100, wants: 0, downs: [2, 4, 6], down: [0, 0, 50, 120] }, 56, 'ScaleDownLimit');
  check({ from: 10, wants: 1, ups: [2], downs: [4], down: [0, 0, 50, 180] }, 6, 'ScaleDownLimit');
  check({ from: 100, wants: 0, downs: [10, 10, 10], down: [0, 0, 10, 120] }, 100, 'ScaleDownLimit');
  check({ from: 10, wants: 5, downs: [10, 10, 10], down: [0, 0, 1000, 120] }, 5, WITHIN);
});

test('the select policy can choose the smallest change or disable a direction', () => {
  const policies = [
    { type: 'Pods' as const, value: 2, periodSeconds: 60 },
    { type: 'Percent' as const, value: 50, periodSeconds: 60 },
  ];
  const of = (selectPolicy: 'Min' | 'Disabled'): ScalingBehavior => ({
    scaleUp: { selectPolicy, policies },
    scaleDown: { selectPolicy, policies },
  });
  const replicas = (behavior: ScalingBehavior, from: number, wants: number) =>
    limit({ ...inputOf({ from, wants }), behavior }).replicas;
  assert.equal(replicas(of('Min'), 1, 99), 2);
  assert.equal(replicas(of('Min'), 5, 1), 3);
  assert.equal(replicas(of('Disabled'), 5, 99), 5);
  assert.equal(replicas(of('Disabled'), 5, 1), 5);
});

/** Earlier recommendations: the number of replicas, and the recommendation's age in minutes. */
type Recommended = [replicas: number, minutes: number][];

function checkStable(
  asked: { from: number; wants: number; known: Recommended; up?: number; down?: number; isPlain?: boolean },
  replicas: number,
  recommended: number[],
): void {
  const { from, wants, known, up = 0, down = 0, isPlain = false } = asked;
  const recommendations = known.map(([count, minutes]) => ({ replicas: count, atMs: NOW - minutes * 60_000 }));
  const rulesOf = (stabilizationWindowSeconds: number) => ({ stabilizationWindowSeconds });
  const stable = stabilize({
    ...inputOf({ from, wants }),
    history: { ...NO_HISTORY, recommendations },
    behavior: isPlain ? undefined : { scaleUp: rulesOf(up), scaleDown: rulesOf(down) },
  });
  assert.equal(stable.replicas, replicas, JSON.stringify(asked));
  assert.deepEqual(
    stable.recommendations.map((one) => one.replicas),
    recommended,
  );
}

test('without rules, the highest recommendation of the last five minutes is used', () => {
  const isPlain = true;
  checkStable({ from: 9, wants: 5, known: [], isPlain }, 5, [5]);
  const recent: Recommended = [
    [4, 2],
    [5, 1],
  ];
  checkStable({ from: 9, wants: 3, known: recent, isPlain }, 5, [4, 5, 3]);
  const old: Recommended = [
    [10, 10],
    [9, 9],
  ];
  checkStable({ from: 9, wants: 3, known: old, isPlain }, 3, [3]);
  checkStable({ from: 9, wants: 3, known: [...old, ...recent], isPlain }, 5, [4, 5, 3]);
});

test('each direction has its own stabilization window', () => {
  const recent: Recommended = [
    [4, 2],
    [5, 1],
  ];
  checkStable({ from: 100, wants: 5, known: [] }, 5, [5]);
  checkStable({ from: 100, wants: 3, known: recent, down: 180 }, 5, [4, 5, 3]);
  checkStable({ from: 1, wants: 7, known: recent, up: 300 }, 4, [4, 5, 7]);
  checkStable({ from: 100, wants: 3, known: recent, up: 300 }, 3, [4, 5, 3]);
  checkStable({ from: 1, wants: 3, known: recent, down: 300 }, 3, [4, 5, 3]);
  const mixed: Recommended = [
    [10, 100],
    [6, 1],
    [5, 2],
    [9, 3],
  ];
  checkStable({ from: 1, wants: 100, known: mixed, up: 300 }, 5, [6, 5, 9, 100]);
  const both = { up: 300, down: 300, from: 2 };
  checkStable({ ...both, wants: 1, known: [[3, 3]] }, 2, [3, 1]);
  checkStable({ ...both, wants: 3, known: [[1, 3]] }, 2, [1, 3]);
});

test('changes are remembered for the longest period of their direction', () => {
  const behavior = { scaleUp: rules([4, 60, 100, 30]), scaleDown: rules([0, 0, 100, 15]) };
  const known = { ...NO_HISTORY, ups: spread([8, 12, 9, 11]) };
  const up = withChange(known, behavior, { from: 2, to: 5, nowMs: NOW });
  assert.deepEqual(
    up.ups.map(({ by }) => by),
    [9, 11, 3],
  );
  const down = withChange(known, behavior, { from: 5, to: 2, nowMs: NOW });
  assert.deepEqual([down.downs.length, down.ups.length], [1, 4]);
  assert.equal(withChange(known, undefined, { from: 2, to: 5, nowMs: NOW }), known);
});

test('events dated in the future after the clock is set back do not limit anything', () => {
  const later = NOW + 86_400_000;
  const history = { ...NO_HISTORY, recommendations: [{ replicas: 9, atMs: later }], ups: [{ by: 90, atMs: later }] };
  const input = { ...inputOf({ from: 10, wants: 2 }), history };
  const { replicas, recommendations } = stabilize(input);
  assert.deepEqual([replicas, recommendations], [2, [{ replicas: 2, atMs: NOW }]]);
  assert.equal(limit({ ...input, desired: 50 }).replicas, 20);
  assert.deepEqual(withChange(history, input.behavior, { from: 1, to: 2, nowMs: NOW }).ups, [{ by: 1, atMs: NOW }]);
});
