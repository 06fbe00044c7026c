import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { stopsInTime } from './stops-in-time.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'd', uid: 'u' },
  spec: { containers: [] },
};
const never = new Promise<void>(() => undefined);

async function wait({
  stopped = never,
  gracePeriodSeconds = 1,
  signal = new AbortController().signal,
  sleeps = true,
} = {}) {
  const told: string[] = [];
  const waited: number[] = [];
  const sleep = async (ms: number, wake: AbortSignal) => {
    waited.push(ms);
    if (sleeps && !wake.aborted) await new Promise((resolve) => wake.addEventListener('abort', resolve));
  };
  const events = { event: (_: object, type: string, reason: string) => told.push(`${type} ${reason}`) };
  const inTime = await stopsInTime(pod, { stopped, gracePeriodSeconds, signal, sleep, events });
  return { inTime, told, waited };
}

test('an end that comes in time, and one that nobody waits for any more, are not told of', async () => {
  const quick = await wait({ stopped: Promise.resolve() });
  assert.deepEqual([quick.inTime, quick.told], [true, []]);
  const left = await wait({ signal: AbortSignal.abort() });
  assert.deepEqual([left.inTime, left.told], [true, []]);
});

test('one that takes half as long again as the pod may, and ten seconds at least, is told of', async () => {
  for (const [gracePeriodSeconds, ms] of [
    [1, 10_000],
    [30, 45_000],
  ] as const) {
    const late = await wait({ gracePeriodSeconds, sleeps: false });
    assert.deepEqual(late, { inTime: false, told: ['Warning ExceededGracePeriod'], waited: [ms] });
  }
});
