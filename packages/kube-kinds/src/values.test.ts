import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  booleanAt,
  isNegativeQuantity,
  isSameValue,
  listAt,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textEntriesAt,
  textsAt,
  valueAt,
  withItems,
  withValue,
} from './values.ts';

const object = { spec: { ports: [{ port: 80 }, null], type: 'A', on: true, none: null, map: { b: '1', a: 2 } } };

describe('values at a path', () => {
  it('are found, or absent when they have another type', () => {
    assert.equal(numberAt(object, 'spec', 'ports', 0, 'port'), 80);
    assert.equal(numberAt(object, 'spec', 'type'), undefined);
    assert.equal(textAt(object, 'spec', 'type'), 'A');
    assert.equal(textAt(object, 'spec', 'ports'), '');
    assert.equal(booleanAt(object, 'spec', 'on'), true);
    assert.equal(booleanAt(object, 'spec', 'type'), false);
    assert.equal(valueAt(object, 'spec', 'none'), undefined);
    assert.deepEqual(objectsAt(object, 'spec', 'ports'), [{ port: 80 }, {}]);
    assert.deepEqual(textsAt({ a: ['x', 1] }, 'a'), ['x', '']);
    assert.deepEqual(listAt(object, 'spec', 'type'), []);
    assert.deepEqual(textEntriesAt(object, 'spec', 'map'), [
      ['a', ''],
      ['b', '1'],
    ]);
  });

  it('are not inherited', () => {
    assert.equal(valueAt(object, 'constructor'), undefined);
    assert.equal(objectAt(object, '__proto__'), undefined);
    assert.equal(valueAt('text', 'length'), undefined);
  });
});

describe('a changed copy', () => {
  it('has the new value, and shares the rest', () => {
    const changed = withValue(object, ['spec', 'a', 'b'], 1);
    assert.equal(valueAt(changed, 'spec', 'a', 'b'), 1);
    assert.equal(valueAt(object, 'spec', 'a'), undefined);
    assert.equal(changed.spec.ports, object.spec.ports);
    assert.deepEqual(Object.keys(withValue(object, ['spec'], undefined)), []);
  });

  it('may have a field named __proto__ without changing a prototype', () => {
    const changed = withValue({}, ['__proto__', 'polluted'], true);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    assert.deepEqual(objectAt(changed, '__proto__'), { polluted: true });
  });

  it('has mapped items', () => {
    const changed = withItems({ a: [{ n: 1 }] }, ['a'], (item, index) => ({ ...item, index }));
    assert.deepEqual(changed, { a: [{ n: 1, index: 0 }] });
    const empty = {};
    assert.equal(
      withItems(empty, ['a'], (item) => item),
      empty,
    );
  });
});

describe('equality', () => {
  it('ignores the order of fields, nulls and empty lists', () => {
    assert.equal(isSameValue({ a: 1, b: [1, { c: 'x' }] }, { b: [1, { c: 'x' }], a: 1, d: null, e: [] }), true);
    assert.equal(isSameValue([1, 2], [2, 1]), false);
    assert.equal(isSameValue([1], [1, 2]), false);
    assert.equal(isSameValue({ a: {} }, {}), false);
    assert.equal(isSameValue({ a: '1' }, { a: 1 }), false);
    assert.equal(isSameValue({ a: '' }, {}), false);
  });

  it('of quantities is by value', () => {
    assert.equal(isNegativeQuantity('-1m'), true);
    assert.equal(isNegativeQuantity('0'), false);
  });
});
