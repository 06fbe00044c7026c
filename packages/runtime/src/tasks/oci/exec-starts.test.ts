import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ExecStarts } from './exec-starts.ts';

test('only a few commands start at a time, and tasks take turns', async () => {
  const starts = new ExecStarts({ max: 2 });
  const { signal } = new AbortController();
  const entered: [string, Disposable][] = [];
  const enter = async (task: string) => entered.push([task, await starts.enter(task, signal)]);
  for (const task of ['a', 'a', 'a', 'a', 'b']) void enter(task);
  await setImmediate();
  assert.deepEqual(entered.map(([task]) => task).join(''), 'aa');
  for (const [, one] of entered.slice(0, 2)) {
    one[Symbol.dispose]();
    one[Symbol.dispose](); // without effect
  }
  await setImmediate();
  assert.deepEqual(entered.map(([task]) => task).join(''), 'aaab');
  for (const [, one] of entered.slice(2)) one[Symbol.dispose]();
  await setImmediate();
  assert.equal(entered.length, 5);
  entered[4]![1][Symbol.dispose]();
  await Promise.all(['c', 'd'].map((task) => starts.enter(task, signal)));
});

test('a command abandoned while waiting gives up its turn', async () => {
  const starts = new ExecStarts({ max: 1 });
  const first = await starts.enter('a', new AbortController().signal);
  const given = new AbortController();
  const late = new AbortController();
  const refused = [starts.enter('a', given.signal), starts.enter('b', late.signal)].map((one) => assert.rejects(one));
  const last = starts.enter('c', new AbortController().signal);
  given.abort(new Error('given up'));
  first[Symbol.dispose](); // the turn of b
  late.abort(new Error('given up'));
  (await last)[Symbol.dispose]();
  await Promise.all(refused);
  (await starts.enter('d', new AbortController().signal))[Symbol.dispose]();
});

test('a hanging start does not block others for long', async () => {
  const starts = new ExecStarts({ max: 1, maxStartMs: 5 });
  const { signal } = new AbortController();
  const hanging = await starts.enter('a', signal);
  const next = await starts.enter('b', signal);
  hanging[Symbol.dispose](); // without effect
  next[Symbol.dispose]();
  (await starts.enter('c', signal))[Symbol.dispose]();
});
