/**
 * Random histories of a node, in virtual time: pods are added, changed and deleted while containers crash, the runtime fails, reports wrong
 * states and restarts, the kubelet is killed at every stage, and the clock is set. `TEST_SEED=n` repeats one history; `TEST_HISTORIES=n`
 * sets their number. 10,000 histories would take twice as long as a unit test may.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type History, randomHistory } from './history.fixture.ts';
import { type RunHistory, shrink, simulate } from './run-history.fixture.ts';

const { TEST_SEED, TEST_HISTORIES = '1000' } = process.env;
const SEEDS =
  TEST_SEED === undefined
    ? Array.from({ length: Number(TEST_HISTORIES) }, (_, index) => index + 1)
    : [Number(TEST_SEED)];

test(`pods keep all invariants and reach their desired state after any faults (${SEEDS.length} random histories)`, async () => {
  const failure = await simulate(async (run) => {
    for (const seed of SEEDS) {
      const history = randomHistory(seed);
      const problems = await run(history);
      if (problems.length > 0) return `TEST_SEED=${seed}: ${problems.join('; ')}\n${await tale(run, history)}`;
    }
    return undefined;
  });
  assert.equal(failure, undefined);
});

/** Shrinks a failing history, and describes the result with its log. */
async function tale(run: RunHistory, history: History): Promise<string> {
  const [problem = ''] = await run(history);
  const short = await shrink(history, async (one) => (await run(one)).some((other) => rule(other) === rule(problem)));
  const log: string[] = [];
  const problems = await run(short, (line) => log.push(line));
  const steps = short.steps.map((step) => JSON.stringify(step));
  return [`in short, ${short.evented ? 'with' : 'without'} events: ${problems.join('; ')}`, ...steps, ...log].join(
    '\n',
  );
}

/** Strips names and numbers from a problem, for comparisons. */
function rule(problem: string): string {
  return problem.replaceAll(/[0-9a-f]{32}|uid-of-\S+|\b[xyz]\b|\d+/g, '');
}
