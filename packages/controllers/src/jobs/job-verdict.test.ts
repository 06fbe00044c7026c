import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobSpec, JobStatus } from '../objects/job.ts';
import { jobPod, newJob, type PodOptions } from './job.fixture.ts';
import { jobFacts } from './job-facts.ts';
import { completionVerdict, verdictOf } from './job-verdict.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');

function factsOf(spec: Partial<JobSpec>, pods: PodOptions[], status?: JobStatus) {
  return jobFacts({ job: newJob(spec, status), pods: pods.map((pod, index) => jobPod(`p${index}`, pod)), nowMs: NOW });
}

function check(spec: Partial<JobSpec>, pods: PodOptions[], expected: [string, string] | undefined, status?: JobStatus) {
  const verdict = verdictOf(factsOf(spec, pods, status));
  assert.deepEqual(verdict === undefined ? undefined : [verdict.reason, verdict.message], expected);
}

const FAILED: PodOptions = { phase: 'Failed' };
const LIMIT: [string, string] = ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'];

test('a Job fails if it exceeds its back-off limit', () => {
  check({ backoffLimit: 1 }, [FAILED], undefined);
  check({ backoffLimit: 1 }, [FAILED, FAILED], LIMIT);
  check({ backoffLimit: 1 }, [FAILED], LIMIT, { failed: 1 });
  check({ backoffLimit: 1 }, [{ ...FAILED, isCounted: true }], undefined, { failed: 1 });
  check({ backoffLimit: 1 }, [FAILED], undefined, { uncountedTerminatedPods: { failed: ['uid-p0'] } });
  check({ backoffLimit: 0 }, [{ isDeleting: true }], LIMIT);
  check({ backoffLimit: 0, podReplacementPolicy: 'Failed' }, [{ isDeleting: true }], undefined);
});

test('container restarts count with the restart policy OnFailure', () => {
  const template = { spec: { restartPolicy: 'OnFailure' as const, containers: [] } };
  check({ template, backoffLimit: 3 }, [{ restarts: 2 }], undefined);
  check({ template, backoffLimit: 3 }, [{ restarts: 2 }, { restarts: 1 }], LIMIT);
  check({ template, backoffLimit: 0 }, [{ restarts: 1 }], LIMIT);
  check({ backoffLimit: 1 }, [{ restarts: 5 }], undefined);
});

test('a Job fails at its active deadline, which is paused during suspension', () => {
  const startTime = '2026-01-01T00:00:30Z';
  const deadline: [string, string] = ['DeadlineExceeded', 'Job was active longer than specified deadline'];
  check({ activeDeadlineSeconds: 30 }, [{}], deadline, { startTime });
  check({ activeDeadlineSeconds: 31 }, [{}], undefined, { startTime });
  check({ activeDeadlineSeconds: 30 }, [{}], undefined);
  check({ activeDeadlineSeconds: 30, suspend: true }, [{}], undefined, { startTime });
});

test('a pod failure policy can fail the Job', () => {
  const rules = [{ action: 'FailJob' as const, onExitCodes: { operator: 'In' as const, values: [42] } }];
  const message = 'Container main for pod shop/p1 failed with exit code 42 matching FailJob rule at index 0';
  check({ podFailurePolicy: { rules } }, [FAILED, { ...FAILED, exitCode: 42 }], ['PodFailurePolicy', message]);
});

const INDEXED = { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimit: 100 };

test('an Indexed Job with failed indexes fails once all have ended, or at once if there are too many', () => {
  const perIndex = { ...INDEXED, backoffLimitPerIndex: 0 };
  const failed = (index: number) => ({ ...FAILED, index });
  check(perIndex, [failed(0)], undefined);
  const all: PodOptions[] = [failed(0), { index: 1, phase: 'Succeeded' }, { index: 2, phase: 'Succeeded' }];
  check(perIndex, all, ['FailedIndexes', 'Job has failed indexes']);
  const tooMany = 'Job has exceeded the specified maximal number of failed indexes';
  check({ ...perIndex, maxFailedIndexes: 1 }, [failed(0), failed(2)], ['MaxFailedIndexesExceeded', tooMany]);
  check({ ...perIndex, maxFailedIndexes: 2 }, [failed(0), failed(2)], undefined);
});

test('a success policy ends the Job at the first rule met', () => {
  const successPolicy = { rules: [{ succeededIndexes: '0-1', succeededCount: 2 }, { succeededCount: 1 }] };
  const succeeded = (index: number): PodOptions => ({ index, phase: 'Succeeded' });
  check({ ...INDEXED, successPolicy }, [], undefined);
  check({ ...INDEXED, successPolicy }, [succeeded(2)], ['SuccessPolicy', 'Matched rules at index 1']);
  check({ ...INDEXED, successPolicy }, [succeeded(1), succeeded(0)], ['SuccessPolicy', 'Matched rules at index 0']);
});

test('an earlier verdict is final', () => {
  const condition = (type: string) => ({ type, status: 'True' as const, reason: 'R', message: 'M' });
  check({}, [], ['R', 'M'], { conditions: [condition('FailureTarget')] });
  check({ backoffLimit: 0 }, [FAILED], ['R', 'M'], { conditions: [condition('SuccessCriteriaMet')] });
});

test('a Job is complete with all completions, or at the first success if no number is set', () => {
  const isComplete = (spec: Partial<JobSpec>, pods: PodOptions[], active = 0) =>
    completionVerdict(factsOf(spec, pods), active) !== undefined;
  const succeeded: PodOptions = { phase: 'Succeeded' };
  assert.equal(isComplete({ completions: 2 }, [succeeded]), false);
  assert.equal(isComplete({ completions: 2 }, [succeeded, succeeded]), true);
  assert.equal(isComplete({ completions: 2 }, [succeeded, succeeded], 1), false);
  assert.equal(isComplete({ completions: undefined }, [succeeded]), true);
  assert.equal(isComplete({ completions: undefined }, []), false);
  assert.equal(isComplete({ completions: 0 }, []), true);
});
