import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimServer } from '../framework/sim-server.fixture.ts';
import { JOBS, type Job } from '../objects/job.ts';
import { deleteExpired, untilExpiredMs } from './finished-job-controller.ts';
import { newJob } from './job.fixture.ts';

const PLACE = { namespace: 'shop', name: 'report' };
const FINISHED = {
  conditions: [{ type: 'Complete', status: 'True' as const, lastTransitionTime: '2026-01-01T00:00:00Z' }],
};

test('the TTL of a Job starts when it finishes', () => {
  const end = Date.parse('2026-01-01T00:00:00Z');
  assert.equal(untilExpiredMs(newJob({ ttlSecondsAfterFinished: 10 }), end), undefined);
  assert.equal(untilExpiredMs(newJob({}, FINISHED), end), undefined);
  const job = newJob({ ttlSecondsAfterFinished: 10 }, FINISHED);
  assert.deepEqual([untilExpiredMs(job, end + 3000), untilExpiredMs(job, end + 30_000)], [7000, 0]);
});

test('a finished Job is deleted unless its TTL was extended in between', async () => {
  const server = new SimServer();
  server.put(JOBS, newJob({ ttlSecondsAfterFinished: 10 }, FINISHED));
  const { client, objects } = server.connect();
  const parts = { client, objects, now: () => server.nowMs, signal: new AbortController().signal };
  assert.equal(await deleteExpired(parts, PLACE), 10_000);
  server.nowMs += 10_000;
  server.change<Job>(JOBS, PLACE, ({ spec }) => {
    spec.ttlSecondsAfterFinished = 15;
  });
  assert.equal(await deleteExpired(parts, PLACE), 5000);
  server.nowMs += 5000;
  assert.equal(await deleteExpired(parts, PLACE), undefined);
  assert.deepEqual(server.list(JOBS), []);
});
