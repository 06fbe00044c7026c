import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ProbeClock } from './probe-clock.ts';
import type { ProbeKind, ProbeResult } from './probe-results.ts';
import { ProbeWorker, tickAfter, tickFrom } from './worker.ts';

type Answer = 'success' | 'failure' | undefined;
type Given = {
  kind?: ProbeKind;
  /** When the probe's first tick (periodic run) is due. */
  anchorMs?: number;
  /** The probe's verdicts, in order; the last one is repeated. */
  answers?: Answer[];
  tookMs?: number;
  isNew?: boolean;
  isGated?: boolean;
  initialDelayMs?: number;
  result?: ProbeResult;
  thresholds?: { success?: number; failure?: number };
};

const PERIOD_MS = 10_000;

/** A probe worker on a mocked clock. `attempts` and `results` record times in seconds. */
function start(context: TestContext, given: Given) {
  const { kind = 'liveness', answers = ['success'], tookMs = 0, thresholds = {} } = given;
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  context.mock.method(performance, 'now', () => nowMs);
  const attempts: string[] = [];
  const results: string[] = [];
  const known = new Map<string, ProbeResult>();
  const at = () => Math.round(nowMs) / 1000;
  const remaining = [...answers];
  const worker = new ProbeWorker({
    kind,
    anchorMs: given.anchorMs ?? 0,
    probe: () => ({
      periodSeconds: PERIOD_MS / 1000,
      successThreshold: thresholds.success ?? 1,
      failureThreshold: thresholds.failure ?? 3,
    }),
    attempt: async (id, { quiet }) => {
      attempts.push(`${id} ${at()}${quiet ? ' early' : ''}`);
      const answer = remaining.length > 1 ? remaining.shift() : remaining[0];
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs));
      return answer;
    },
    result: (id) => known.get(id),
    onResult: (id, result) => {
      known.set(id, result);
      results.push(`${id} ${result} ${at()}`);
    },
    clock: new ProbeClock(),
  });
  context.after(() => worker.stop());
  const container = (id: string, rest: Given = given) => ({
    id,
    isNew: rest.isNew ?? false,
    isGated: rest.isGated ?? false,
    probedFromMs: nowMs + (rest.initialDelayMs ?? 0),
  });
  if (given.result !== undefined) known.set('c1', given.result);
  const passUntil = async (seconds: number) => {
    for (; nowMs < seconds * 1000; nowMs += 5, context.mock.timers.tick(5)) {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  };
  const observe = (id: string | undefined, rest?: Given) =>
    worker.observe(id === undefined ? undefined : container(id, rest), nowMs);
  return { attempts, results, observe, passUntil, worker };
}

test('a probe is executed once per period, however long it takes', async (context) => {
  const { attempts, observe, passUntil } = start(context, { tookMs: 9500 });
  observe('c1');
  await passUntil(41);
  assert.deepEqual(attempts, ['c1 0', 'c1 10', 'c1 20', 'c1 30', 'c1 40']);
});

test('a probe that takes longer than its period is repeated immediately', async (context) => {
  const { attempts, observe, passUntil } = start(context, { tookMs: 23_000 });
  observe('c1');
  await passUntil(47);
  assert.deepEqual(attempts, ['c1 0', 'c1 23', 'c1 46']);
});

test('ticks are counted from when the pod was first seen, not from the start of a container', async (context) => {
  const { attempts, observe, passUntil } = start(context, {});
  await passUntil(3);
  observe('c1');
  await passUntil(21);
  observe('c2');
  await passUntil(31);
  assert.deepEqual(attempts, ['c1 10', 'c1 20', 'c2 30']);
});

test('the first tick after a kubelet start is delayed', async (context) => {
  const { attempts, observe, passUntil } = start(context, { anchorMs: 4000, isNew: false, kind: 'readiness' });
  observe('c1');
  observe('c1');
  await passUntil(15);
  assert.deepEqual(attempts, ['c1 4', 'c1 14']);
});

test('no probe is executed before the initial delay is over', async (context) => {
  const { attempts, observe, passUntil } = start(context, { initialDelayMs: 12_000 });
  observe('c1');
  await passUntil(31);
  assert.deepEqual(attempts, ['c1 20', 'c1 30']);
});

test('a failed liveness probe is not repeated until the container is replaced', async (context) => {
  const { attempts, results, observe, passUntil } = start(context, {
    answers: ['failure'],
    thresholds: { failure: 2 },
  });
  observe('c1');
  await passUntil(31);
  observe('c1');
  await passUntil(51);
  assert.deepEqual([attempts, results], [['c1 0', 'c1 10'], ['c1 failure 10']]);
  observe('c2');
  await passUntil(61);
  assert.deepEqual(attempts.slice(2), ['c2 60']);
});

test('failures of a container do not count for its successor', async (context) => {
  const { results, observe, passUntil } = start(context, { answers: ['failure'], thresholds: { failure: 2 } });
  observe('c1');
  await passUntil(5);
  observe('c2');
  await passUntil(15);
  assert.deepEqual(results, []);
  await passUntil(21);
  assert.deepEqual(results, ['c2 failure 20']);
});

test('a probe that could not be executed counts neither as success nor as failure', async (context) => {
  const answers: Answer[] = ['failure', undefined, 'failure'];
  const { results, observe, passUntil } = start(context, { answers, thresholds: { failure: 2 } });
  observe('c1');
  await passUntil(25);
  assert.deepEqual(results, ['c1 failure 20']);
});

test('with a threshold of one, a startup probe fails at the first tick', async (context) => {
  const given = { kind: 'startup', isNew: true, answers: ['failure'], thresholds: { failure: 1 } } as const;
  const { attempts, results, observe, passUntil } = start(context, { ...given, answers: ['failure'] });
  observe('c1');
  await passUntil(31);
  assert.deepEqual([attempts, results], [['c1 0'], ['c1 failure 0']]);
});

test('early failures of a startup probe do not count, and early attempts end with the first tick', async (context) => {
  const given = { kind: 'startup', isNew: true, thresholds: { failure: 1 } } as const;
  const { attempts, results, observe, passUntil } = start(context, { ...given, answers: ['failure'] });
  await passUntil(1);
  observe('c1');
  await passUntil(31);
  assert.deepEqual(results, ['c1 failure 10']);
  assert.deepEqual(attempts.slice(0, 4), ['c1 1 early', 'c1 1.025 early', 'c1 1.075 early', 'c1 1.175 early']);
  assert.equal(attempts.at(-1), 'c1 10');
});

test('the first tick is late if an early attempt takes longer', async (context) => {
  const given: Given = { kind: 'startup', isNew: true, answers: ['failure'], tookMs: 12_000 };
  const { attempts, results, observe, passUntil } = start(context, { ...given, thresholds: { failure: 1 } });
  await passUntil(1);
  observe('c1');
  await passUntil(31);
  assert.deepEqual(attempts, ['c1 1 early', 'c1 13']);
  assert.deepEqual(results, ['c1 failure 25']);
});

test('a container is ready after a successful early attempt, and ticks are counted from it', async (context) => {
  const answers: Answer[] = [undefined, undefined, 'success'];
  const { attempts, results, observe, passUntil } = start(context, { kind: 'readiness', isNew: true, answers });
  await passUntil(1);
  observe('c1');
  await passUntil(22);
  assert.deepEqual(results, ['c1 success 1.075', 'c1 success 11.075', 'c1 success 21.075']);
  assert.equal(attempts.length, 5);
});

test('a gated container is probed once its startup probe has succeeded', async (context) => {
  const { attempts, observe, passUntil } = start(context, { kind: 'readiness', isNew: true, isGated: true });
  observe('c1');
  await passUntil(3);
  assert.deepEqual(attempts, []);
  observe('c1', { isNew: true, isGated: false });
  await passUntil(14);
  assert.deepEqual(attempts, ['c1 3 early', 'c1 13']);
});

test('an unready container is probed at each sync of its pod', async (context) => {
  const { attempts, observe, passUntil } = start(context, { kind: 'readiness', answers: ['failure', 'success'] });
  observe('c1');
  await passUntil(3);
  observe('c1');
  await passUntil(4);
  observe('c1');
  await passUntil(14);
  assert.deepEqual(attempts, ['c1 0', 'c1 3', 'c1 13']);
});

test('a container that was already started gets no startup probe', async (context) => {
  const { attempts, observe, passUntil } = start(context, { kind: 'startup', result: 'success' });
  observe('c1');
  await passUntil(21);
  assert.deepEqual(attempts, []);
});

test('a probe result is dropped if its container has exited meanwhile', async (context) => {
  const { results, observe, passUntil } = start(context, { tookMs: 2000 });
  observe('c1');
  await passUntil(1);
  observe(undefined);
  await passUntil(9);
  assert.deepEqual(results, []);
});

test('ticks do not drift', () => {
  const ticks = { anchorMs: 100, periodMs: 10_000 };
  let tick = tickFrom(ticks, 50);
  for (let period = 0; period < 1000; period++) tick = tickAfter(ticks, tick, tick + 1900);
  assert.equal(tick, 10_000_100);
  assert.equal(tickFrom(ticks, 10_100), 10_100);
  assert.equal(tickFrom(ticks, 10_101), 20_100);
});
