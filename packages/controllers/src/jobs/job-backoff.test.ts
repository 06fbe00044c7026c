import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobPod } from './job.fixture.ts';
import { backoffAfter, type JobBackoff, remainingBackoffMs } from './job-backoff.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const second = (count: number) => START + count * 1000;
const failed = (...seconds: number[]) => seconds.map((endedAt) => jobPod(`f${endedAt}`, { phase: 'Failed', endedAt }));
const succeeded = (...seconds: number[]) =>
  seconds.map((endedAt) => jobPod(`s${endedAt}`, { phase: 'Succeeded', endedAt }));

function check(
  known: JobBackoff | undefined,
  ended: { succeeded?: number[]; failed?: number[] },
  expected: JobBackoff,
) {
  const pods = { succeeded: succeeded(...(ended.succeeded ?? [])), failed: failed(...(ended.failed ?? [])) };
  assert.deepEqual(backoffAfter(known, pods), expected);
}

test('failures accumulate until a pod succeeds', () => {
  const known = { failures: 2, lastFailureMs: second(3) };
  check(undefined, { failed: [7, 5] }, { failures: 2, lastFailureMs: second(7) });
  check(known, {}, known);
  check(known, { failed: [9] }, { failures: 3, lastFailureMs: second(9) });
  check(known, { succeeded: [9] }, { failures: 0, lastFailureMs: 0 });
  check(known, { succeeded: [9], failed: [8, 9] }, { failures: 0, lastFailureMs: 0 });
  check(known, { succeeded: [7, 9], failed: [8, 11, 10] }, { failures: 2, lastFailureMs: second(11) });
});

test('the delay doubles from ten seconds to ten minutes', () => {
  const delay = (failures: number) => remainingBackoffMs({ failures, lastFailureMs: START }, START) / 1000;
  assert.deepEqual([0, 1, 2, 3, 6, 7, 8, 1000].map(delay), [0, 10, 20, 40, 320, 600, 600, 600]);
  assert.equal(remainingBackoffMs({ failures: 1, lastFailureMs: START }, second(4)), 6000);
  assert.equal(remainingBackoffMs({ failures: 1, lastFailureMs: START }, second(40)), 0);
});

test('a failure dated in the future after the clock is set back causes no delay', () => {
  assert.equal(remainingBackoffMs({ failures: 1, lastFailureMs: second(86_400) }, START), 0);
});
