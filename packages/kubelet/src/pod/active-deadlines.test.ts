import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { ActiveDeadlines } from './active-deadlines.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const status = { startTime: '2026-01-01T00:00:00Z' };
const podOf = (activeDeadlineSeconds?: number): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'd', uid: 'u' } },
  spec: { containers: [], activeDeadlineSeconds },
});

test('wall clock changes do not affect a deadline, and a restarted kubelet counts from the start time', (t) => {
  let [wallMs, steadyMs] = [START_MS + 10_000, 5000];
  t.mock.method(Date, 'now', () => wallMs);
  t.mock.method(performance, 'now', () => steadyMs);
  const deadlines = new ActiveDeadlines();
  const left = (seconds?: number) => deadlines.leftMs(podOf(seconds), status);
  assert.equal(left(), undefined);
  assert.equal(left(60), 50_000);
  for (const jumpMs of [HOUR_MS, -2 * HOUR_MS]) {
    wallMs += jumpMs;
    steadyMs += 1000;
  }
  assert.equal(left(60), 48_000);
  assert.equal(left(0), -12_000);
  deadlines.forget('u');
  assert.equal(left(60), 60_000, 'a start time in the future counts as now');
  assert.equal(deadlines.leftMs(podOf(60), {}), undefined);
});
