import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobSpec, JobStatus } from '../objects/job.ts';
import { decidePods } from './decide-pods.ts';
import { jobPod, newJob, type PodOptions } from './job.fixture.ts';
import { jobFacts } from './job-facts.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');

function decide(spec: Partial<JobSpec>, pods: Record<string, PodOptions>, status?: JobStatus) {
  const all = Object.entries(pods).map(([name, options]) => jobPod(name, options));
  return decidePods(jobFacts({ job: newJob(spec, status), pods: all, nowMs: NOW }));
}

function check(spec: Partial<JobSpec>, pods: Record<string, PodOptions>, expected: object, status?: JobStatus) {
  const { create, delete: removed, againInMs } = decide(spec, pods, status);
  const indexes = create.map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index']);
  const names = removed.map(({ metadata }) => metadata.name);
  assert.deepEqual({ create: indexes.map((index) => index ?? '-'), delete: names, againInMs }, expected);
}

const nothing = { create: [], delete: [], againInMs: undefined };
const creates = (...create: string[]) => ({ ...nothing, create });
const deletes = (...names: string[]) => ({ ...nothing, delete: names });

test('missing pods are created, up to the remaining completions', () => {
  check({ completions: 5, parallelism: 2 }, {}, creates('-', '-'));
  check({ completions: 5, parallelism: 2 }, { a: {} }, creates('-'));
  check({ completions: 5, parallelism: 3 }, { a: {} }, creates('-'), { succeeded: 3 });
  check({ completions: 5, parallelism: 2 }, { a: {}, b: {} }, nothing);
  check({ completions: undefined, parallelism: 2 }, {}, creates('-', '-'));
  check({ completions: undefined, parallelism: 2 }, { a: {} }, nothing, { succeeded: 1 });
});

test('surplus pods are deleted, starting with those that have done the least', () => {
  const pods = { ready: { isReady: true }, running: {}, pending: { phase: 'Pending' as const } };
  check({ completions: 5, parallelism: 1 }, pods, deletes('pending', 'running'));
  check({ completions: 5, parallelism: 3, suspend: true }, pods, deletes('pending', 'running', 'ready'));
  check({ completions: 5, parallelism: 3, suspend: true }, {}, nothing);
});

test('a pod being deleted is replaced at once, or only after it has ended', () => {
  const pods = { a: { isDeleting: true, isCounted: true } };
  check({ completions: 2, parallelism: 1 }, pods, creates('-'));
  check({ completions: 2, parallelism: 1, podReplacementPolicy: 'Failed' }, pods, nothing);
  check({ completions: 2, parallelism: 1, podFailurePolicy: { rules: [] } }, pods, nothing);
});

test('new pods are delayed after failures', () => {
  const pods = { a: { phase: 'Failed' as const, endedAt: 55 } };
  check({ completions: 2 }, pods, { ...nothing, againInMs: 5000 });
  check({ completions: 2 }, { a: { phase: 'Failed', endedAt: 40 } }, creates('-'));
});

const INDEXED = { completionMode: 'Indexed', completions: 5, parallelism: 3 };

test('an Indexed Job creates the lowest remaining indexes', () => {
  check(INDEXED, {}, creates('0', '1', '2'));
  check(INDEXED, { a: { index: 1 } }, creates('0', '3'), { completedIndexes: '2' });
  check(INDEXED, { a: { index: 0, phase: 'Succeeded' } }, creates('1', '2', '3'));
});

test('pods without a valid index and duplicates of an index are deleted', () => {
  check(INDEXED, { a: {}, b: { index: 7 }, c: { index: 1 }, d: { index: 1, isReady: true } }, deletes('a', 'b', 'c'));
});

test('with a limit per index, each index has its own back-off and carries over its failure count', () => {
  const spec = { ...INDEXED, backoffLimitPerIndex: 2 };
  const failed = (index: number, endedAt: number, failures = '0'): PodOptions => ({
    phase: 'Failed',
    index,
    endedAt,
    annotations: { 'batch.kubernetes.io/job-index-failure-count': failures },
  });
  const pods = { a: failed(0, 30, '1'), b: failed(1, 45, '1'), c: failed(2, 40, '2') };
  check(spec, pods, { create: ['0', '3'], delete: [], againInMs: 5000 });
  const [first, second] = decide(spec, pods).create;
  assert.equal(first!.metadata.annotations!['batch.kubernetes.io/job-index-failure-count'], '2');
  assert.equal(second!.metadata.annotations!['batch.kubernetes.io/job-index-failure-count'], '0');
});

test('the pod of an index has its name, hostname, label and environment variable', () => {
  const { metadata, spec } = decide(INDEXED, {}).create[1]!;
  assert.equal(metadata.generateName, 'report-1-');
  assert.equal(spec.hostname, 'report-1');
  assert.equal(metadata.labels!['batch.kubernetes.io/job-completion-index'], '1');
  assert.deepEqual(metadata.finalizers, ['batch.kubernetes.io/job-tracking']);
  const fieldRef = { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" };
  assert.deepEqual(spec.containers[0]!.env, [{ name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef } }]);
});

test('no pods are created while a thousand of the Job’s pods wait to start', () => {
  const spec = { completions: 2 ** 31 - 1, parallelism: 2 ** 31 - 1, completionMode: 'Indexed' as const };
  const count = (waiting: number) => {
    const pods = Array.from({ length: waiting }, (_, index) => [`p${index}`, { phase: 'Pending' as const, index }]);
    const { create } = decide(spec, Object.fromEntries(pods));
    return create.length;
  };
  assert.deepEqual([count(0), count(900), count(1000)], [500, 100, 0]);
});
