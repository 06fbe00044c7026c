import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mergePatch } from './merge-patch.ts';

it('a merge patch sets, merges and removes fields', () => {
  // the examples of RFC 7386, appendix A, that consist of objects
  const cases: [object, object, object][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [original, patch, expected] of cases)
    assert.deepEqual(mergePatch({ ...original }, { ...patch }), expected, JSON.stringify(patch));
});

it('a merge patch may have names that objects inherit', () => {
  const patched = mergePatch({}, JSON.parse('{"__proto__":{"polluted":true},"constructor":{"a":1}}'));
  assert.equal(JSON.stringify(patched), '{"__proto__":{"polluted":true},"constructor":{"a":1}}');
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

it('a merge patch that is too deep is refused', () => {
  let deep = {};
  for (let depth = 0; depth < 2000; depth++) deep = { a: deep };
  assert.throws(() => mergePatch({}, deep), { code: 'invalid_argument', message: 'exceeded max depth' });
});
