import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobSpec, JobStatus } from '../objects/job.ts';
import { isActive, isTerminating } from '../pods/pod-state.ts';
import { jobPod, newJob, type PodOptions } from './job.fixture.ts';
import { jobFacts } from './job-facts.ts';
import { countReleased, finishedStatus, trackPods } from './job-status.ts';
import { completionVerdict, type Verdict, verdictOf } from './job-verdict.ts';

const TIME = '2026-01-01T00:01:00Z';
const NOW = Date.parse(TIME);

function track(spec: Partial<JobSpec>, pods: Record<string, PodOptions>, status: JobStatus = {}) {
  const all = Object.entries(pods).map(([name, options]) => jobPod(name, options));
  const job = newJob(spec, { startTime: TIME, ...status });
  const facts = jobFacts({ job, pods: all, nowMs: NOW });
  const active = all.filter(isActive);
  const verdict = active.length > 0 ? undefined : (verdictOf(facts) ?? completionVerdict(facts, 0));
  const terminating = all.filter(isTerminating).length;
  return trackPods({ facts, active, terminating, verdict, isManaged: verdict === undefined });
}

const BASE = { startTime: TIME, ready: 0, terminating: 0 };
const SUCCEEDED: PodOptions = { phase: 'Succeeded' };
const FAILED: PodOptions = { phase: 'Failed' };

test('ended pods are listed before they are released, and counted afterwards', () => {
  const { status, release } = track({ completions: 3 }, { a: SUCCEEDED, b: FAILED, c: { isReady: true } });
  const uncountedTerminatedPods = { succeeded: ['uid-a'], failed: ['uid-b'] };
  assert.deepEqual(status, { ...BASE, active: 1, ready: 1, uncountedTerminatedPods });
  assert.deepEqual(
    release.map(({ metadata }) => metadata.name),
    ['a', 'b'],
  );
  const half = { ...BASE, active: 1, ready: 1, succeeded: 1, uncountedTerminatedPods: { failed: ['uid-b'] } };
  assert.deepEqual(countReleased(status, new Set(['uid-b'])), half);
  const counted = { ...BASE, active: 1, ready: 1, succeeded: 1, failed: 1, uncountedTerminatedPods: {} };
  assert.deepEqual(countReleased(half, new Set()), counted);
});

test('an already listed pod is released, not listed again', () => {
  const known = { uncountedTerminatedPods: { succeeded: ['uid-a', 'uid-x'] } };
  const { status, release } = track({ completions: 3 }, { a: SUCCEEDED, c: {} }, known);
  assert.deepEqual(status, { ...BASE, active: 1, succeeded: 1, uncountedTerminatedPods: { succeeded: ['uid-a'] } });
  assert.equal(release.length, 1);
});

test('the status lists at most 500 pods at a time', () => {
  const pods = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`p${index}`, SUCCEEDED]));
  const { status, release, hasMore } = track({ completions: 1000 }, pods);
  assert.deepEqual([status.uncountedTerminatedPods!.succeeded!.length, release.length, hasMore], [500, 500, true]);
});

test('an Indexed Job lists indexes instead of succeeded pods', () => {
  const spec = { completionMode: 'Indexed', completions: 4, parallelism: 4 };
  const pods = {
    a: { ...SUCCEEDED, index: 2 },
    b: { ...FAILED, index: 1 },
    c: { index: 3 },
    d: { ...FAILED, index: 9 },
  };
  const { status, release } = track(spec, pods, { completedIndexes: '0', succeeded: 1 });
  const uncountedTerminatedPods = { failed: ['uid-b'] };
  assert.deepEqual(status, { ...BASE, active: 1, succeeded: 2, completedIndexes: '0,2', uncountedTerminatedPods });
  assert.equal(release.length, 3);
});

test('with a limit per index, the last failed pod is kept until it is replaced', () => {
  const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 };
  const failed = { ...FAILED, index: 0 };
  const kept = track(spec, { a: failed, b: { index: 1 } });
  assert.deepEqual([kept.release.length, kept.status.failed, kept.status.failedIndexes], [0, undefined, '']);
  const replaced = track(spec, { a: failed, b: { index: 1 }, c: { index: 0 } });
  assert.deepEqual(
    replaced.release.map(({ metadata }) => metadata.name),
    ['a'],
  );
});

test('ignored failures are released without being counted', () => {
  const rules = [{ action: 'Ignore' as const, onExitCodes: { operator: 'In' as const, values: [1] } }];
  const { status, release } = track({ podFailurePolicy: { rules } }, { a: FAILED, b: {} });
  assert.deepEqual([status.uncountedTerminatedPods, release.length], [{}, 1]);
});

test('a Job that fails counts all its pods as failed, and one that succeeds only releases them', () => {
  const pods = { a: FAILED, b: { isDeleting: true } };
  const failing = track({ backoffLimit: 0, podReplacementPolicy: 'Failed' }, pods);
  assert.deepEqual(failing.status.uncountedTerminatedPods, { failed: ['uid-a', 'uid-b'] });
  assert.deepEqual(
    failing.status.conditions?.map(({ type }) => type),
    ['FailureTarget'],
  );
  const met = { type: 'SuccessCriteriaMet', status: 'True' as const };
  const succeeding = track({ podReplacementPolicy: 'Failed' }, { b: { isDeleting: true } }, { conditions: [met] });
  assert.deepEqual([succeeding.status.uncountedTerminatedPods, succeeding.release.length], [{}, 1]);
});

test('the final condition waits until all pods are counted and none is terminating', () => {
  const verdict: Verdict = { succeeds: true, reason: 'R', message: 'M' };
  assert.equal(finishedStatus({ terminating: 1 }, verdict, NOW), undefined);
  assert.equal(finishedStatus({ uncountedTerminatedPods: { failed: ['x'] } }, verdict, NOW), undefined);
  const condition = { status: 'True', lastProbeTime: TIME, lastTransitionTime: TIME, reason: 'R', message: 'M' };
  const complete = { conditions: [{ type: 'Complete', ...condition }], completionTime: TIME };
  assert.deepEqual(finishedStatus({}, verdict, NOW), complete);
  const failed = finishedStatus({}, { ...verdict, succeeds: false }, NOW);
  assert.deepEqual(failed, { conditions: [{ type: 'Failed', ...condition }] });
});

test('suspension is a condition, and a resumed Job starts again', () => {
  const { status, event } = track({ suspend: true, completions: 2 }, {});
  const condition = { type: 'Suspended', lastProbeTime: TIME, lastTransitionTime: TIME };
  const suspended = { ...condition, status: 'True' as const, reason: 'JobSuspended', message: 'Job suspended' };
  assert.deepEqual([event, status.conditions, status.startTime], ['Suspended', [suspended], undefined]);
  const resumed = track({ completions: 2 }, {}, { conditions: [suspended], startTime: undefined });
  const after = { ...condition, status: 'False', reason: 'JobResumed', message: 'Job resumed' };
  assert.deepEqual([resumed.event, resumed.status.conditions, resumed.status.startTime], ['Resumed', [after], TIME]);
  assert.equal(track({ completions: 2 }, {}).event, undefined);
});
