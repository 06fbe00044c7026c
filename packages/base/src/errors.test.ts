import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, errorMessage, PodwrightError, wrapError } from './errors.ts';

const table: [string, unknown, string][] = [
  ['an error of ours', new PodwrightError('not_found', 'x'), 'not_found'],
  [
    'one of a plugin that was built apart from us',
    Object.assign(new Error('x'), { code: 'already_exists' }),
    'already_exists',
  ],
  ['a system error', Object.assign(new Error('x'), { code: 'ENOENT' }), 'unknown'],
  ['a full disk', Object.assign(new Error('x'), { code: 'ENOSPC' }), 'resource_exhausted'],
  ['full records', Object.assign(new Error('x'), { code: 'SQLITE_FULL' }), 'resource_exhausted'],
  ['a gRPC error', Object.assign(new Error('x'), { code: 5 }), 'unknown'],
  ['a timeout', AbortSignal.timeout(0).reason ?? new DOMException('x', 'TimeoutError'), 'deadline_exceeded'],
  ['an abort', AbortSignal.abort().reason, 'cancelled'],
  ['a value that is no error', { code: 'not_found' }, 'unknown'],
];
for (const [what, thrown, code] of table) {
  test(`the class of ${what} is ${code}`, () => assert.equal(errorCode(thrown), code));
}

test('a wrapped error keeps the class, and the message says each cause once', () => {
  const wrapped = wrapError('start pod a', new PodwrightError('not_found', 'no image b'));
  assert.equal(wrapped.code, 'not_found');
  assert.equal(errorMessage(wrapped), 'start pod a: no image b');
  assert.equal(errorMessage(new Error('outer', { cause: new Error('inner') })), 'outer: inner');
});
