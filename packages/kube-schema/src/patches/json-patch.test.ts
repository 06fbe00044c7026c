import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../json.ts';
import { jsonPatch } from './json-patch.ts';

const before = { a: { b: [1, 2, 3], 'x/y~z': 1 }, n: null };

function check(operations: object[], expected: JsonObject, original: JsonObject = before): void {
  const copy = structuredClone(original);
  assert.deepEqual(jsonPatch(original, operations), expected);
  assert.deepEqual(original, copy, 'the original is not modified');
}

const refuse = (operations: unknown, code: string, message: RegExp) =>
  assert.throws(() => jsonPatch(before, operations), { code, message });

describe('operations', () => {
  it('add, remove and replace fields and elements', () => {
    const path = '/a/b';
    check([{ op: 'add', path: '/a/b/1', value: 9 }], { ...before, a: { ...before.a, b: [1, 9, 2, 3] } });
    check([{ op: 'add', path: '/a/b/-', value: 9 }], { ...before, a: { ...before.a, b: [1, 2, 3, 9] } });
    check([{ op: 'add', path, value: {} }], { ...before, a: { ...before.a, b: {} } });
    check([{ op: 'add', path: '/a/b/-2', value: 9 }], { ...before, a: { ...before.a, b: [1, 2, 9, 3] } });
    check([{ op: 'remove', path: '/a/b/-1' }], { ...before, a: { ...before.a, b: [1, 2] } });
    check([{ op: 'remove', path: '/a/x~1y~0z' }], { ...before, a: { b: [1, 2, 3] } });
    check([{ op: 'replace', path: '/a/b/0', value: null }], { ...before, a: { ...before.a, b: [null, 2, 3] } });
    check([{ op: 'replace', path: '', value: { c: 1 } }], { c: 1 });
    check([{ op: 'replace', path: '/new', value: 1 }], { ...before, new: 1 });
    check(
      [{ op: 'add', path: '/__proto__', value: 1 }],
      JSON.parse('{"a":{"b":[1,2,3],"x/y~z":1},"n":null,"__proto__":1}'),
    );
  });

  it('move, copy and test', () => {
    check([{ op: 'move', from: '/a/b', path: '/c' }], { a: { 'x/y~z': 1 }, n: null, c: [1, 2, 3] });
    check([{ op: 'copy', from: '/a/b/0', path: '/c' }], { ...before, c: 1 });
    check(
      [
        { op: 'test', path: '/a/b', value: [1, 2, 3] },
        { op: 'test', path: '/n' },
        { op: 'test', path: '/none', value: null },
      ],
      before,
    );
  });

  it('that do not apply fail with the words of upstream', () => {
    const fail = (operation: object, message: RegExp) => refuse([operation], 'failed_precondition', message);
    fail({ op: 'test', path: '/a/b', value: [1] }, /^testing value \/a\/b failed: test failed$/);
    fail({ op: 'remove', path: '/none' }, /^Unable to remove nonexistent key: none: missing value$/);
    fail(
      { op: 'add', path: '/none/x', value: 1 },
      /^add operation does not apply: doc is missing path: "\/none\/x": missing value$/,
    );
    fail({ op: 'replace', path: '/a/b/3', value: 1 }, /^Unable to access invalid index: 3: invalid index referenced$/);
    fail({ op: 'add', path: '/a/b/x', value: 1 }, /not a proper array index: 'x'/);
    fail({ op: 'add', path: '/a/b/5', value: 1 }, /invalid index: 5/);
    fail({ op: 'move', from: '/none', path: '/x' }, /nonexistent key: none/);
    fail({ op: 'destroy', path: '/a' }, /^Unexpected kind: destroy$/);
    fail({ op: 'replace', path: '', value: [] }, /not an object/);
    fail({ op: 'add', path: '', value: {} }, /missing path: ""/);
  });

  it('must be a list of operations', () => {
    refuse({}, 'invalid_argument', /list of operations/);
    const wrong = (operation: unknown, text: string) =>
      refuse([operation], 'invalid_argument', new RegExp(`^error decoding patch: json: cannot unmarshal ${text}$`));
    wrong(7, 'number into Go value of type handlers.jsonPatchOp');
    wrong([], 'array into Go value of type handlers.jsonPatchOp');
    wrong({ op: 7 }, 'number into Go struct field jsonPatchOp.op of type string');
    wrong({ op: 'add', path: true }, 'bool into Go struct field jsonPatchOp.path of type string');
    wrong({ op: 'copy', path: '/a', from: {} }, 'object into Go struct field jsonPatchOp.from of type string');
  });

  it('does not apply without an operation or a path', () => {
    for (const operation of [null, {}, { op: 'add' }, { op: null, path: '/a' }, { op: 'copy', path: '/a', from: null }])
      refuse([operation], 'failed_precondition', /./);
  });
});

describe('hostile patches', () => {
  it('are bounded in operations, copies and depth', () => {
    const test = { op: 'test', path: '/n' };
    refuse(Array(10_001).fill(test), 'resource_exhausted', /maximum operations in a JSON patch is 10000, got 10001/);
    const doubling = [
      { op: 'add', path: '/s', value: 'x'.repeat(1000) },
      ...Array(30).fill({ op: 'copy', from: '/a', path: '/a/-' }),
    ];
    const copies = [{ op: 'replace', path: '', value: { a: ['x'.repeat(1000)] } }, ...doubling.slice(1)];
    refuse(copies, 'resource_exhausted', /accumulated size increase of copy/);
    const euros = { op: 'add', path: '/s', value: '€'.repeat(1 << 20) };
    refuse([euros, { op: 'copy', from: '/s', path: '/t' }], 'resource_exhausted', /increase of copy is 3145730,/);
    const nesting = Array.from({ length: 1001 }, () => [
      { op: 'move', from: '/n', path: '/m' },
      { op: 'add', path: '/n', value: {} },
      { op: 'move', from: '/m', path: '/n/n' },
    ]);
    refuse(nesting.flat(), 'failed_precondition', /max depth/);
  });

  it('that move too many elements are refused', () => {
    const list = Array.from({ length: 500_000 }, () => 0);
    const original = { list };
    const operations = Array(9000).fill({ op: 'add', path: '/list/0', value: 1 });
    assert.throws(() => jsonPatch(original, operations), { code: 'resource_exhausted' });
  });
});
