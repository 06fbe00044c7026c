import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEqual, mergeThree } from './three-way.ts';

const check = (three: { base: unknown; mine: unknown; theirs: unknown }, value: unknown, conflicts: string[] = []) =>
  assert.deepEqual(mergeThree(three), { value, conflicts });

test('changes by both sides to different fields are merged', () => {
  check(
    { base: { a: 1, b: 1, c: { d: 1 } }, mine: { a: 2, b: 1, c: { d: 1 } }, theirs: { a: 1, b: 1, c: { d: 1, e: 5 } } },
    { a: 2, b: 1, c: { d: 1, e: 5 } },
  );
  check({ base: { a: 1, b: 1 }, mine: { b: 1 }, theirs: { a: 1, b: 2 } }, { b: 2 });
  check({ base: { a: 1, b: 1 }, mine: { a: 3, b: 1 }, theirs: { a: 1 } }, { a: 3 });
});

test('a field changed by both sides is a conflict, and has the edited value', () => {
  check({ base: { a: { b: 1 } }, mine: { a: { b: 2 } }, theirs: { a: { b: 3 } } }, { a: { b: 2 } }, ['a.b']);
  check({ base: { a: 1 }, mine: { a: 2 }, theirs: { a: 2 } }, { a: 2 });
  check({ base: [1], mine: [1, 2], theirs: [3] }, [1, 2], ['']);
});

test('list items are merged by name, and keep their order', () => {
  check(
    {
      base: [
        { name: 'a', x: 1 },
        { name: '1', x: 1 },
      ],
      mine: [
        { name: 'a', x: 2 },
        { name: '1', x: 1 },
      ],
      theirs: [{ name: 'a', x: 1 }, { name: '1', x: 5 }, { name: 'c' }],
    },
    [{ name: 'a', x: 2 }, { name: '1', x: 5 }, { name: 'c' }],
  );
});

test('key order does not make values different', () => {
  assert.ok(isEqual({ a: [1, { b: 2 }], c: null }, { c: null, a: [1, { b: 2 }] }));
  assert.ok(!isEqual({ a: 1 }, { a: 1, b: undefined }) && !isEqual([1], [1, 2]) && !isEqual(null, {}));
});
