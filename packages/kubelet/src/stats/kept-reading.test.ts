import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { KeptReading, STATISTICS_KEPT_MS, STATISTICS_WANTED_MS } from './kept-reading.ts';

const always = () => true;
const settled = () => new Promise(setImmediate);

/** Readings that are numbered, at a clock of the test's own. */
function numbered(t: TestContext) {
  let nowMs = 0;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => nowMs);
  let count = 0;
  const fails = { next: false };
  const reading = new KeptReading(async () => {
    if (fails.next) throw new Error('away');
    return ++count;
  });
  const pass = async (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await settled();
  };
  return { reading, pass, fails, taken: () => count };
}

test('who asks at once, and who asks while it is good, shares one reading', async (t) => {
  const { reading, pass } = numbered(t);
  assert.deepEqual(await Promise.all([reading.get(always), reading.get(always)]), [1, 1]);
  await pass(STATISTICS_KEPT_MS - 1);
  assert.equal(await reading.get(always), 1);
  const ages: number[] = [];
  const answer = await reading.get((_, ageMs) => {
    ages.push(ageMs);
    return false;
  });
  assert.deepEqual([answer, ages], [2, [STATISTICS_KEPT_MS - 1]], 'one that lacks something is taken anew');
});

test('it is taken anew in time while somebody asks, and no longer', async (t) => {
  const { reading, pass, taken } = numbered(t);
  await reading.get(always);
  await pass(STATISTICS_KEPT_MS);
  assert.equal(taken(), 2);
  assert.equal(await reading.get(always), 2, 'nobody waits for it');
  for (let index = 0; index < 30; index++) {
    void reading.last; // which is no wish for the next one
    await pass(STATISTICS_KEPT_MS);
  }
  assert.equal(reading.last, undefined, 'nor looked at');
  const last = taken();
  assert.ok(last <= 3 + STATISTICS_WANTED_MS / STATISTICS_KEPT_MS, String(last));
  assert.equal(await reading.get(always), last + 1, 'old ones are not told');
});

test('a reading ahead that fails is the error of whoever asks next, not an old value', async (t) => {
  const { reading, pass, fails } = numbered(t);
  await reading.get(always);
  fails.next = true;
  await pass(STATISTICS_KEPT_MS);
  await assert.rejects(reading.get(always), /away/);
  fails.next = false;
  assert.equal(await reading.get(always), 2);
});
