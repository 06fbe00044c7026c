import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { MAX_SAMPLES, SAMPLE_PERIOD_MS, USAGE_INTEREST_MS } from '../limits.ts';
import { UsageRing } from './usage-ring.ts';
import { sampleOf } from './usage-sample.ts';

/** A ring whose time is mocked. `step` lets a period pass. */
function makeRing(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const state = { now: 1, reads: 0, problem: undefined as Error | undefined };
  const read = async () => {
    state.reads++;
    if (state.problem !== undefined) throw state.problem;
    return sampleOf({}, state.now);
  };
  const ring = new UsageRing({ read, logger: silentLogger, now: () => state.now });
  t.after(() => ring.stop());
  const step = async () => {
    state.now += SAMPLE_PERIOD_MS;
    t.mock.timers.tick(SAMPLE_PERIOD_MS);
    await new Promise(setImmediate);
  };
  return { ring, state, step };
}

test('samples are taken while a page asks for them, and not for longer', async (t) => {
  const { ring, state, step } = makeRing(t);
  assert.equal(state.reads, 0);
  assert.equal((await ring.samples(0)).length, 1);
  for (let period = 0; period < 10; period++) await step();
  assert.equal(state.reads, 1 + USAGE_INTEREST_MS / SAMPLE_PERIOD_MS);
  assert.equal((await ring.samples(0)).length, state.reads);
});

test('a page receives the samples after the last one that it has', async (t) => {
  const { ring, step } = makeRing(t);
  const [first] = await ring.samples(0);
  await step();
  assert.deepEqual(
    (await ring.samples(first!.time)).map(({ time }) => time),
    [first!.time + SAMPLE_PERIOD_MS],
  );
});

test('the samples of an hour are kept', async (t) => {
  const { ring, step } = makeRing(t);
  for (let period = 0; period < MAX_SAMPLES + 10; period++) {
    await ring.samples(0);
    await step();
  }
  assert.equal((await ring.samples(0)).length, MAX_SAMPLES);
});

test('a failure of the first sample is reported to the page, and samples do not continue', async (t) => {
  const { ring, state, step } = makeRing(t);
  state.problem = new Error('forbidden');
  await assert.rejects(ring.samples(0), /forbidden/);
  await step();
  assert.equal(state.reads, 1);
  state.problem = undefined;
  assert.equal((await ring.samples(0)).length, 1);
});
