import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Done, type GraphParts, partsOf, startGraph } from './start-graph.ts';
import type { UndoFailure } from './undo.ts';

type Letters = { a: string; b: string; c: string };

const { part } = partsOf<Letters>();

function letters(calls: string[], changes: Partial<GraphParts<Letters>> = {}): GraphParts<Letters> {
  return {
    a: part(['c'], ({ c }, undo) => {
      calls.push('start a');
      undo.add('stop a', () => void calls.push('stop a'));
      return `a after ${c}`;
    }),
    b: part([], async (_, undo) => {
      calls.push('start b');
      undo.add('stop b', () => void calls.push('stop b'));
      return 'b';
    }),
    c: part([], (_, undo) => {
      calls.push('start c');
      undo.add('stop c', () => void calls.push('stop c'));
      return 'c';
    }),
    ...changes,
  };
}

const noFailures = (failures: UndoFailure[]) => assert.deepEqual(failures, []);

test('a part starts after its dependencies, otherwise in record order, and parts stop in reverse', async () => {
  const calls: string[] = [];
  const { parts, close } = await startGraph(letters(calls), noFailures);
  assert.deepEqual(parts, { a: 'a after c', b: 'b', c: 'c' });
  assert.deepEqual(calls.splice(0), ['start c', 'start a', 'start b']);
  await close();
  await close();
  assert.deepEqual(calls, ['stop b', 'stop a', 'stop c'], 'each stops once');
});

test('a part gets only its dependencies', async () => {
  const seen: object[] = [];
  const b = part(['a'], (required) => {
    seen.push(required);
    return 'b';
  });
  await startGraph(letters([], { b }), noFailures);
  assert.deepEqual(seen, [{ a: 'a after c' }]);
});

test('if a part fails, the started parts and its own acquisitions are undone', async () => {
  const calls: string[] = [];
  const failing = part([], async (_, undo) => {
    undo.add('stop half of b', () => void calls.push('stop half of b'));
    throw new Error('b is broken');
  });
  await assert.rejects(startGraph(letters(calls, { b: failing }), noFailures), /^Error: b is broken$/);
  assert.deepEqual(calls, ['start c', 'start a', 'stop half of b', 'stop a', 'stop c']);
});

test('a failed undo step is reported, and does not stop the others', async () => {
  const calls: string[] = [];
  const b = part([], (_, undo) => {
    undo.add('stop b', () => Promise.reject(new Error('it sticks')));
    return 'b';
  });
  const reported: UndoFailure[] = [];
  const { close } = await startGraph(letters(calls, { b }), (failures) => reported.push(...failures));
  await close();
  assert.deepEqual(
    reported.map(({ step }) => step),
    ['stop b'],
  );
  assert.deepEqual(calls.slice(-2), ['stop a', 'stop c']);
});

test('circular dependencies are rejected before any part starts', async () => {
  const calls: string[] = [];
  const c = part(['a'], () => 'c');
  await assert.rejects(startGraph(letters(calls, { c }), noFailures), {
    code: 'invalid_argument',
    message: 'order the parts: they require each other in a cycle: a → c → a',
  });
  assert.deepEqual(calls, []);
});

test('a part waiting for a step starts when the step is done', async () => {
  const steps = partsOf<{ step: Done; last: string[] }>();
  const calls: string[] = [];
  const { parts } = await startGraph(
    {
      last: steps.part(['step'], ({ step }) => [...calls, step]),
      step: steps.step([], async () => {
        await new Promise(setImmediate);
        calls.push('the step');
      }),
    },
    noFailures,
  );
  assert.deepEqual(parts.last, ['the step', 'done']);
});
