import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../client/object-client.ts';
import { sortedBy } from './sorted-objects.ts';

/**
 * Sorts objects that have these values in a field, as with `--sort-by`. Returns the values in the resulting order; null is a missing value.
 */
function sorted(...values: unknown[]) {
  const objects = values.map((value) => ({ metadata: value === null ? {} : { value } }) as unknown as ApiObject);
  return sortedBy(objects, '.metadata.value').map(({ metadata }) => (metadata as { value?: unknown }).value ?? null);
}

test('objects are sorted by a field as in kubectl', () => {
  assert.deepEqual(sorted('b', 'a-b', 'ab', 'B', 'pod-2', 'pod-10'), ['B', 'a-b', 'ab', 'b', 'pod-10', 'pod-2']);
  assert.deepEqual(sorted(10, 9, 100), [9, 10, 100]);
  assert.deepEqual(sorted('1Gi', '500Mi', '2'), ['2', '500Mi', '1Gi']);
  assert.deepEqual(sorted('a', null, 'A', null), [null, null, 'A', 'a']);
  assert.deepEqual(sortedBy([], '.metadata.none'), []);
});

test('invalid paths and fields that no object has are rejected', () => {
  assert.throws(() => sorted(null, null), { code: 'invalid_argument', message: /--sort-by .* none of the objects/ });
  assert.throws(() => sortedBy([], '{.a'), { code: 'invalid_argument' });
});
