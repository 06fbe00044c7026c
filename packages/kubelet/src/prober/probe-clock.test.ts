import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Alarm, ProbeClock } from './probe-clock.ts';

test('alarms fire in chronological order, unless canceled', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  context.mock.method(performance, 'now', () => nowMs);
  const clock = new ProbeClock();
  const rung: string[] = [];
  const set = (dueMs: number): Alarm =>
    clock.set(dueMs, () => rung.push(`${dueMs}${Math.abs(nowMs - dueMs) > 1 ? ' late' : ''}`));
  const [, , taken, weeks] = [set(30), set(10), set(20), set(3_000_000_000)];
  set(10);
  clock.set(15, () => set(16));
  clock.cancel(taken!);
  for (; nowMs < 40; nowMs++) context.mock.timers.tick(1);
  assert.deepEqual(rung.splice(0), ['10', '10', '16', '30']);
  for (; nowMs < 3_000_000_000; nowMs += 500_000_000) context.mock.timers.tick(500_000_000);
  context.mock.timers.tick(500_000_000);
  assert.equal(rung.length, 1);
  clock.cancel(weeks!);
});
