import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonPath } from './json-path.ts';

const OBJECT = {
  metadata: { annotations: { 'a.b/c': 'x' } },
  spec: {
    ports: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Old', status: 'False' },
    ],
  },
};

test('paths find the values they name', () => {
  const find = (path: string) => jsonPath(path)?.(OBJECT);
  assert.deepEqual(find('.spec.ports[0].name'), ['a']);
  assert.deepEqual(find('.spec.ports[-1].name'), ['b']);
  assert.deepEqual(find('.spec.ports[*].port'), [1, 2]);
  assert.deepEqual(find('.status.conditions[?(@.type=="Ready")].status'), ['True']);
  assert.deepEqual(find(".status.conditions[?(@.type!='Ready')].status"), ['False']);
  assert.deepEqual(find('.metadata.annotations.a\\.b/c'), ['x']);
  assert.deepEqual(find(".metadata.annotations['a\\.b/c']"), ['x']);
  assert.deepEqual(find('.spec.missing.deep'), []);
  assert.deepEqual(find('.constructor'), []);
});

test('other paths are not supported', () => {
  for (const path of ['spec', '.a[?(', '..a', '.a[0:1]', `.${'a'.repeat(2000)}`])
    assert.equal(jsonPath(path), undefined);
});
