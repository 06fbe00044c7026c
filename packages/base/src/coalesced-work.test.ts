import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoalescedWork } from './coalesced-work.ts';

test('calls during a run share the next run, which sees the state as of its own start', async () => {
  const seen: number[] = [];
  const runs: { end: () => void; fail: (error: Error) => void }[] = [];
  let state = 0;
  const work = new CoalescedWork(async () => {
    seen.push(state);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    runs.push({ end: resolve, fail: reject });
    await promise;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const first = work.run();
  await turn();
  const others = Array.from({ length: 100 }, () => {
    state++;
    return work.run();
  });
  await turn();
  assert.deepEqual(seen, [0]);
  runs[0]!.fail(new Error('broken'));
  await assert.rejects(first, /broken/);
  await turn();
  assert.deepEqual(seen, [0, 100]);
  let isSettled = false;
  const settled = work.settled().then(() => {
    isSettled = true;
  });
  await turn();
  assert.equal(isSettled, false);
  runs[1]!.end();
  await Promise.all([...others, settled]);
  assert.deepEqual(seen, [0, 100]);
});
