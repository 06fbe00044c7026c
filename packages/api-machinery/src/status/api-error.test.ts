import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid } from './api-error.ts';

test('the response for an invalid object contains at most 100 of its errors', () => {
  const errors = Array.from({ length: 250 }, (_, index) => ({
    reason: 'FieldValueInvalid' as const,
    field: `a[${index}]`,
    message: 'wrong',
  }));
  const { message, status } = invalid({ group: '', kind: 'Pod' }, 'x', errors);
  assert.equal(status.details?.causes?.length, 100);
  assert.match(message, /^Pod "x" is invalid: \[a\[0\]: wrong, .*, a\[99\]: wrong, and 150 more errors\]$/);
  const few = invalid({ group: '', kind: 'Pod' }, 'x', errors.slice(0, 100));
  assert.match(few.message, /a\[99\]: wrong\]$/);
});
