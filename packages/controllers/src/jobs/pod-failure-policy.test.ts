import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodFailureRule } from '../objects/job.ts';
import { jobPod, type PodOptions } from './job.fixture.ts';
import { matchPodFailurePolicy, type PodFailureMatch } from './pod-failure-policy.ts';

const exits = (action: PodFailureRule['action'], values: number[], rest: object = {}): PodFailureRule => ({
  action,
  onExitCodes: { operator: 'In', values, ...rest },
});

function check(rules: PodFailureRule[], pod: PodOptions, expected: PodFailureMatch) {
  assert.deepEqual(matchPodFailurePolicy({ rules }, jobPod('p', { phase: 'Failed', ...pod })), expected);
}

test('the first rule matching the exit code applies', () => {
  const rules = [exits('Ignore', [3]), exits('FailIndex', [4]), exits('Count', [5]), exits('FailJob', [3, 6])];
  check(rules, { exitCode: 3 }, { action: 'Ignore', counts: false });
  check(rules, { exitCode: 4 }, { action: 'FailIndex', counts: true });
  check(rules, { exitCode: 5 }, { action: 'Count', counts: true });
  check(rules, { exitCode: 7 }, { counts: true });
  const jobFailure = 'Container main for pod shop/p failed with exit code 6 matching FailJob rule at index 3';
  check(rules, { exitCode: 6 }, { action: 'FailJob', counts: true, jobFailure });
});

test('a rule can name a container or exclude exit codes, and never matches code 0', () => {
  check([exits('Ignore', [3], { containerName: 'other' })], { exitCode: 3 }, { counts: true });
  check([exits('Ignore', [3], { operator: 'NotIn' })], { exitCode: 4 }, { action: 'Ignore', counts: false });
  check([exits('Ignore', [3], { operator: 'NotIn' })], { exitCode: 0 }, { counts: true });
});

test('a rule can match a pod condition', () => {
  const rule: PodFailureRule = { action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] };
  check([rule], {}, { counts: true });
  const pod = jobPod('p', { phase: 'Failed' });
  pod.status!.conditions = [{ type: 'DisruptionTarget', status: 'True' }];
  const { jobFailure } = matchPodFailurePolicy({ rules: [rule] }, pod);
  assert.equal(jobFailure, 'Pod shop/p has condition DisruptionTarget matching FailJob rule at index 0');
});

test('without a policy, every failure counts', () => {
  assert.deepEqual(matchPodFailurePolicy(undefined, jobPod('p')), { counts: true });
});
