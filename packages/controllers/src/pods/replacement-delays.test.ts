import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplacementDelays } from './replacement-delays.ts';

test('each failure soon after a replacement doubles the delay, up to five minutes', () => {
  const delays = new ReplacementDelays();
  let nowMs = 0;
  const waits: number[] = [];
  for (let pod = 0; pod < 12; pod++) {
    const failed = Array.from({ length: pod + 1 }, (_, index) => `u${index}`); // the earlier ones are still stored
    const waitMs = delays.take('a', failed, nowMs);
    waits.push(waitMs / 1000);
    nowMs += waitMs;
    assert.equal(delays.take('a', failed, nowMs), 0, 'the wait is over');
    assert.equal(delays.take('a', failed, nowMs), 0, 'replaced already');
    nowMs += 5;
  }
  const seconds = waits.map(Math.round);
  assert.deepEqual(seconds, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
});

test('keys are independent, and a long-lived pod is replaced at once', () => {
  const delays = new ReplacementDelays();
  assert.equal(delays.take('a', ['u1'], 0), 0);
  assert.equal(delays.take('b', ['u1'], 0), 0);
  assert.equal(delays.take('a', ['u1', 'u2'], 10), 990);
  assert.equal(delays.take('a', [], 10), 0);
  assert.equal(delays.take('a', ['u1', 'u2'], 20_000), 0);
  assert.equal(delays.take('a', ['u3'], 20_010), 990);
});

test('setting back the clock does not prolong a delay', () => {
  const delays = new ReplacementDelays();
  const day = 86_400_000;
  assert.equal(delays.take('a', ['u1'], day), 0);
  assert.equal(delays.take('a', ['u1', 'u2'], 0), 0);
  assert.equal(delays.take('a', ['u1', 'u2', 'u3'], 10), 1990);
});
