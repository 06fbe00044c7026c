import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { hostIdleShare, IDLE_SAMPLE_MS, SANDBOX_PATIENCE_MS, SandboxTurns, sandboxesAtOnce } from './sandbox-turns.ts';

const pod = { metadata: { uid: 'u' }, spec: { containers: [] } } as unknown as Pod;

/**
 * Queues the creation of 30 sandboxes that never become ready, with a concurrency limit of two, on a host with the given idle CPU share.
 */
function start(t: TestContext, share: number) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const turns = new SandboxTurns(2, () => () => share);
  let begun = 0;
  const create = () => {
    begun++;
    return new Promise<string>(() => undefined);
  };
  for (let count = 0; count < 30; count++) void turns.run(pod, create, new AbortController().signal);
  const afterSamples = async (samples: number) => {
    t.mock.timers.tick(samples * IDLE_SAMPLE_MS);
    await new Promise(setImmediate);
    return begun;
  };
  return { afterSamples };
}

test('the limit is raised quickly while the CPUs are idle', async (t) => {
  const { afterSamples } = start(t, 0.5);
  const begun = [await afterSamples(0), await afterSamples(1), await afterSamples(1), await afterSamples(2)];
  assert.deepEqual(begun, [2, 4, 8, 30]);
});

test('on a busy host sandboxes queue, but a hanging one blocks the others only for a limited time', async (t) => {
  const { afterSamples } = start(t, 0.05);
  const samples = SANDBOX_PATIENCE_MS / IDLE_SAMPLE_MS;
  assert.deepEqual([await afterSamples(samples - 1), await afterSamples(1)], [2, 4]);
});

test('CPU idle time is sampled only while a sandbox is waiting', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let samples = 0;
  const turns = new SandboxTurns(1, () => () => {
    samples++;
    return 0;
  });
  const first = Promise.withResolvers<string>();
  const { signal } = new AbortController();
  const all = [turns.run(pod, () => first.promise, signal), turns.run(pod, async () => 'second', signal)];
  t.mock.timers.tick(IDLE_SAMPLE_MS);
  first.resolve('first');
  assert.deepEqual(await Promise.all(all), ['first', 'second']);
  t.mock.timers.tick(10 * IDLE_SAMPLE_MS);
  assert.equal(samples, 2);
});

test('the idle fraction of this host is between 0 and 1', async () => {
  const idleShare = hostIdleShare();
  const untilMs = performance.now() + 50;
  while (performance.now() < untilMs); // one processor at least is busy
  const share = idleShare();
  assert.ok(share >= 0 && share <= 1.1, `${share}`);
});

test('other runtimes get two concurrent sandboxes per CPU, and at least four', () => {
  assert.equal(sandboxesAtOnce('containerd', 1), 4);
  assert.equal(sandboxesAtOnce('cri-o', 16), 32);
  assert.equal(sandboxesAtOnce('podwright', 16), Number.POSITIVE_INFINITY);
});
