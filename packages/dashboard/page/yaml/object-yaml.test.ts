import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectOf, withoutManagedFields, yamlOf } from './object-yaml.ts';

test('an object survives a round trip through YAML', () => {
  const object = {
    apiVersion: 'v1',
    metadata: { name: 'a', annotations: { a: '1', b: 'yes', c: '2026-01-01', d: '1e3', e: 'two\nlines\n', f: '' } },
    data: { empty: {}, list: [], number: 7, isTrue: true, nothing: null, octal: '0777' },
  };
  assert.deepEqual(objectOf(yamlOf(object)), object);
});

test('64-bit integers survive a round trip through YAML', () => {
  const object = { metadata: { name: 'a' }, spec: { large: 9007199254740993n, negative: -(2n ** 63n), small: 1 } };
  const text = yamlOf(object);
  assert.match(text, /^ {2}large: 9007199254740993$/m);
  assert.deepEqual(objectOf(text), object);
});

test('managed fields are omitted', () => {
  const object = { metadata: { name: 'a', managedFields: [{}] } };
  assert.deepEqual(withoutManagedFields(object), { metadata: { name: 'a' } });
});

test('text that is not an object’s YAML is rejected with the reason', () => {
  assert.throws(() => objectOf('a: [1'), /line 1/);
  assert.throws(() => objectOf('just text'), /not an object with metadata/);
  assert.throws(() => objectOf('metadata: 1'), /not an object with metadata/);
});
