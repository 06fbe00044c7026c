import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateConditions } from './conditions.ts';

test('invalid conditions have upstream’s errors', () => {
  const valid = {
    type: 'Ready',
    status: 'True',
    reason: 'Done',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const check = (changes: object, ...errors: string[]) =>
    assert.deepEqual(
      validateConditions('c', [{ ...valid, ...changes }]).map(({ field, message }) => `${field}: ${message}`),
      errors.map((error) => `c[0].${error}`),
    );
  check({});
  check({ status: 'x' }, 'status: Unsupported value: "x": supported values: "False", "True", "Unknown"');
  check({ observedGeneration: -1 }, 'observedGeneration: Invalid value: -1: must be greater than or equal to zero');
  check({ lastTransitionTime: null }, 'lastTransitionTime: Required value');
  check({ reason: '' }, 'reason: Required value');
  check({ reason: 'a'.repeat(1025) }, 'reason: Too long: may not be more than 1024 bytes');
  check({ message: 'a'.repeat(32 * 1024 + 1) }, 'message: Too long: may not be more than 32768 bytes');
  assert.match(
    validateConditions('c', [{ ...valid, reason: 'a b' }])[0]!.message,
    /^Invalid value: "a b": a condition reason must start/,
  );
  assert.deepEqual(validateConditions('c', [valid, valid]), [
    { reason: 'FieldValueDuplicate', field: 'c[1].type', message: 'Duplicate value: "Ready"' },
  ]);
});
