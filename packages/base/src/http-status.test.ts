import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOfHttpStatus } from './http-status.ts';

test('HTTP statuses are mapped to error codes', () => {
  assert.equal(codeOfHttpStatus(404, 'aborted'), 'not_found');
  assert.equal(codeOfHttpStatus(409, 'aborted'), 'aborted');
  assert.equal(codeOfHttpStatus(409, 'already_exists'), 'already_exists');
  assert.equal(codeOfHttpStatus(500, 'aborted'), undefined);
});
