import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '@podwright/base';
import type { Pod } from '../api/types.ts';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { delayRestart } from './crash-backoff.ts';

const container = { name: 'app', image: 'busybox' };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { containers: [container] },
};

test('the first restart comes at once, the next after 10 s, 20 s, … up to the cap', (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const backoff = new Backoff({ initialMs: 10_000, maxMs: 300_000 }, Date.now);
  const crash = () => ({ state: 'exited', finishedAtMs: Date.now() }) as RuntimeContainer;
  assert.equal(delayRestart(backoff, { pod, container, latest: undefined }), undefined);
  assert.equal(delayRestart(backoff, { pod, container, latest: crash() }), undefined);
  for (const delayMs of [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    const latest = crash();
    const delay = delayRestart(backoff, { pod, container, latest })!;
    assert.equal(delay.retryAtMs - Date.now(), delayMs);
    context.mock.timers.tick(delayMs);
    assert.equal(delayRestart(backoff, { pod, container, latest }), undefined);
  }
});

test('the message says how long, which container and which pod', () => {
  const backoff = new Backoff({ initialMs: 10_000, maxMs: 300_000 });
  const latest = { state: 'exited', finishedAtMs: Date.now() } as RuntimeContainer;
  delayRestart(backoff, { pod, container, latest });
  assert.deepEqual(delayRestart(backoff, { pod, container, latest })!.waiting, {
    reason: 'CrashLoopBackOff',
    message: 'back-off 10s restarting failed container=app pod=web_default(u1)',
  });
});

test('a container that ran for twice the cap begins anew', (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const backoff = new Backoff({ initialMs: 1000, maxMs: 4000 }, Date.now);
  const crash = () => ({ state: 'exited', finishedAtMs: Date.now() }) as RuntimeContainer;
  delayRestart(backoff, { pod, container, latest: crash() });
  context.mock.timers.tick(8001);
  assert.equal(delayRestart(backoff, { pod, container, latest: crash() }), undefined);
  assert.equal(delayRestart(backoff, { pod, container, latest: crash() })!.retryAtMs - Date.now(), 1000);
});
