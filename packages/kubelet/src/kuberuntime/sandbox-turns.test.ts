import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { hostIdleShare, IDLE_LOOK_MS, SANDBOX_PATIENCE_MS, SandboxTurns, sandboxesAtOnce } from './sandbox-turns.ts';

const pod = { metadata: { uid: 'u' }, spec: { containers: [] } } as unknown as Pod;

/** Thirty sandboxes that are never ready, two at a time, on a host whose processors are idle for a part of their time. */
function start(t: TestContext, share: number) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const turns = new SandboxTurns(2, () => () => share);
  let begun = 0;
  const create = () => {
    begun++;
    return new Promise<string>(() => undefined);
  };
  for (let count = 0; count < 30; count++) void turns.run(pod, create, new AbortController().signal);
  const afterLooks = async (looks: number) => {
    t.mock.timers.tick(looks * IDLE_LOOK_MS);
    await new Promise(setImmediate);
    return begun;
  };
  return { afterLooks };
}

test('sandboxes that wait for something else than a processor hold up the others for a moment', async (t) => {
  const { afterLooks } = start(t, 0.5);
  const begun = [await afterLooks(0), await afterLooks(1), await afterLooks(1), await afterLooks(2)];
  assert.deepEqual(begun, [2, 4, 8, 30]);
});

test('on a busy host each waits for its turn, but not long for those that hang', async (t) => {
  const { afterLooks } = start(t, 0.05);
  const looks = SANDBOX_PATIENCE_MS / IDLE_LOOK_MS;
  assert.deepEqual([await afterLooks(looks - 1), await afterLooks(1)], [2, 4]);
});

test('it is looked only while one waits', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let looks = 0;
  const turns = new SandboxTurns(1, () => () => {
    looks++;
    return 0;
  });
  const first = Promise.withResolvers<string>();
  const { signal } = new AbortController();
  const all = [turns.run(pod, () => first.promise, signal), turns.run(pod, async () => 'second', signal)];
  t.mock.timers.tick(IDLE_LOOK_MS);
  first.resolve('first');
  assert.deepEqual(await Promise.all(all), ['first', 'second']);
  t.mock.timers.tick(10 * IDLE_LOOK_MS);
  assert.equal(looks, 2);
});

test('the idle time of this host is a part of its time', async () => {
  const idleShare = hostIdleShare();
  const untilMs = performance.now() + 50;
  while (performance.now() < untilMs); // one processor at least is busy
  const share = idleShare();
  assert.ok(share >= 0 && share <= 1.1, `${share}`);
});

test('a runtime that is not ours is asked for two sandboxes a processor, and for at least four', () => {
  assert.equal(sandboxesAtOnce('containerd', 1), 4);
  assert.equal(sandboxesAtOnce('cri-o', 16), 32);
  assert.equal(sandboxesAtOnce('podwright', 16), Number.POSITIVE_INFINITY);
});
