import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkBudget } from './work-budget.ts';

function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test('work may continue until its budget is spent, while other events run', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const budget = new WorkBudget(60);
  let steps = 0;
  for (; await budget.mayContinue(); steps++) {
    work(1);
    await budget.wait(Promise.resolve()); // takes no turn of the event loop
  }
  clearInterval(timer);
  assert.ok(steps >= 20 && steps <= 60, `${steps} steps`);
  assert.ok(turns >= 5, `${turns} turns`);
  assert.ok(budget.spentMs >= 55, `${budget.spentMs} ms`);
});

test('waiting does not spend the budget', async () => {
  const budget = new WorkBudget(20);
  await budget.wait(sleep(50));
  assert.equal(await budget.mayContinue(), true);
  await assert.rejects(budget.wait(Promise.reject(new Error('failed'))));
  work(21);
  assert.equal(await budget.mayContinue(), false);
});

test('work ends at its deadline, even if it only waits', async () => {
  const budget = new WorkBudget(60_000, { deadlineMs: performance.now() + 20 });
  assert.equal(new WorkBudget(60_000).isLate, false);
  await budget.wait(sleep(21));
  assert.deepEqual([budget.isLate, await budget.mayContinue()], [true, false]);
});
