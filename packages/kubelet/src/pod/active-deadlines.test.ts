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

test('the time of a pod goes on when the clock of the host is set, and is that of its start time for the next kubelet', (t) => {
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
  assert.equal(left(60), 60_000, 'no pod began later than now');
  assert.equal(deadlines.leftMs(podOf(60), {}), undefined);
});
