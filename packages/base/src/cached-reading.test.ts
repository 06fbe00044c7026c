import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CachedReading } from './cached-reading.ts';

const REFRESH_MS = 10_000;
const DEMAND_MS = 90_000;

const always = () => true;
const settled = () => new Promise(setImmediate);

/** Returns a cached reading whose values count up from 1, with a clock controlled by the test. */
function numbered(t: TestContext) {
  let nowMs = 0;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => nowMs);
  let count = 0;
  const fails = { next: false };
  const read = async () => {
    if (fails.next) throw new Error('away');
    return ++count;
  };
  const reading = new CachedReading(read, { refreshMs: REFRESH_MS, demandMs: DEMAND_MS });
  const pass = async (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await settled();
  };
  return { reading, pass, fails, taken: () => count };
}

test('concurrent callers, and callers that accept the cached reading, share one', async (t) => {
  const { reading, pass } = numbered(t);
  assert.deepEqual(await Promise.all([reading.get(always), reading.get(always)]), [1, 1]);
  await pass(REFRESH_MS - 1);
  assert.equal(await reading.get(always), 1);
  const ages: number[] = [];
  const answer = await reading.get((_, ageMs) => {
    ages.push(ageMs);
    return false;
  });
  assert.deepEqual([answer, ages], [2, [REFRESH_MS - 1]], 'a rejected reading is replaced');
});

test('a reading is refreshed in the background only while there are callers', async (t) => {
  const { reading, pass, taken } = numbered(t);
  await reading.get(always);
  await pass(REFRESH_MS);
  assert.equal(taken(), 2);
  assert.equal(await reading.get(always), 2, 'the caller does not wait');
  for (let index = 0; index < 30; index++) {
    void reading.last; // does not request a refresh
    await pass(REFRESH_MS);
  }
  assert.equal(reading.last, undefined, 'the reading has expired');
  const last = taken();
  assert.ok(last <= 3 + DEMAND_MS / REFRESH_MS, String(last));
  assert.equal(await reading.get(always), last + 1, 'an expired reading is not returned');
});

test('after a failed refresh, the next caller gets a new reading or its error, not a stale value', async (t) => {
  const { reading, pass, fails } = numbered(t);
  await reading.get(always);
  fails.next = true;
  await pass(REFRESH_MS);
  await assert.rejects(reading.get(always), /away/);
  fails.next = false;
  assert.equal(await reading.get(always), 2);
});
