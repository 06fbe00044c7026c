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
  const emitted: string[] = [];
  const waited: number[] = [];
  const sleep = async (ms: number, wake: AbortSignal) => {
    waited.push(ms);
    if (sleeps && !wake.aborted) await new Promise((resolve) => wake.addEventListener('abort', resolve));
  };
  const events = { event: (_: object, type: string, reason: string) => emitted.push(`${type} ${reason}`) };
  const inTime = await stopsInTime(pod, { stopped, gracePeriodSeconds, signal, sleep, events });
  return { inTime, emitted, waited };
}

test('no event is emitted if the pod stops in time or the wait is aborted', async () => {
  const quick = await wait({ stopped: Promise.resolve() });
  assert.deepEqual([quick.inTime, quick.emitted], [true, []]);
  const aborted = await wait({ signal: AbortSignal.abort() });
  assert.deepEqual([aborted.inTime, aborted.emitted], [true, []]);
});

test('an event is emitted after 1.5 grace periods, but not before ten seconds', async () => {
  for (const [gracePeriodSeconds, ms] of [
    [1, 10_000],
    [30, 45_000],
  ] as const) {
    const late = await wait({ gracePeriodSeconds, sleeps: false });
    assert.deepEqual(late, { inTime: false, emitted: ['Warning ExceededGracePeriod'], waited: [ms] });
  }
});
