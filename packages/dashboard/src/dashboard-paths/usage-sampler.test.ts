import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { MAX_SAMPLES, SAMPLE_PERIOD_MS, USAGE_INTEREST_MS } from '../limits.ts';
import { sampleOf } from './usage-sample.ts';
import { UsageSampler } from './usage-sampler.ts';

/** Creates a sampler with a mocked clock. `step` advances the clock by one period. */
function makeSampler(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const state = { now: 1, reads: 0, problem: undefined as Error | undefined };
  const read = async () => {
    state.reads++;
    if (state.problem !== undefined) throw state.problem;
    return sampleOf({}, state.now);
  };
  const sampler = new UsageSampler({ read, logger: silentLogger, now: () => state.now });
  t.after(() => sampler.stop());
  const step = async () => {
    state.now += SAMPLE_PERIOD_MS;
    t.mock.timers.tick(SAMPLE_PERIOD_MS);
    await new Promise(setImmediate);
  };
  return { sampler, state, step };
}

test('sampling stops once no page has requested samples for half a minute', async (t) => {
  const { sampler, state, step } = makeSampler(t);
  assert.equal(state.reads, 0);
  assert.equal((await sampler.samples(0)).length, 1);
  for (let period = 0; period < 10; period++) await step();
  assert.equal(state.reads, 1 + USAGE_INTEREST_MS / SAMPLE_PERIOD_MS);
  assert.equal((await sampler.samples(0)).length, state.reads);
});

test('a page receives only samples newer than its last one', async (t) => {
  const { sampler, step } = makeSampler(t);
  const [first] = await sampler.samples(0);
  await step();
  assert.deepEqual(
    (await sampler.samples(first!.time)).map(({ time }) => time),
    [first!.time + SAMPLE_PERIOD_MS],
  );
});

test('samples are kept for an hour', async (t) => {
  const { sampler, step } = makeSampler(t);
  for (let period = 0; period < MAX_SAMPLES + 10; period++) {
    await sampler.samples(0);
    await step();
  }
  assert.equal((await sampler.samples(0)).length, MAX_SAMPLES);
});

test('a failure of the first sample is reported to the page, and sampling stops', async (t) => {
  const { sampler, state, step } = makeSampler(t);
  state.problem = new Error('forbidden');
  await assert.rejects(sampler.samples(0), /forbidden/);
  await step();
  assert.equal(state.reads, 1);
  state.problem = undefined;
  assert.equal((await sampler.samples(0)).length, 1);
});
