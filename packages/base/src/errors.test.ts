import assert from 'node:assert/strict';
import { readFileSync, renameSync } from 'node:fs';
import { test } from 'node:test';
import { errorCode, errorMessage, PodwrightError, wrapError } from './errors.ts';

const table: [string, unknown, string][] = [
  ['a PodwrightError', new PodwrightError('not_found', 'x'), 'not_found'],
  [
    'an error of a plugin that bundles its own copy of the class',
    Object.assign(new Error('x'), { code: 'already_exists' }),
    'already_exists',
  ],
  ['a system error', Object.assign(new Error('x'), { code: 'ENOENT' }), 'unknown'],
  ['a full disk', Object.assign(new Error('x'), { code: 'ENOSPC' }), 'resource_exhausted'],
  ['a full SQLite database', Object.assign(new Error('x'), { code: 'SQLITE_FULL' }), 'resource_exhausted'],
  ['a gRPC error', Object.assign(new Error('x'), { code: 5 }), 'unknown'],
  ['a timeout', AbortSignal.timeout(0).reason ?? new DOMException('x', 'TimeoutError'), 'deadline_exceeded'],
  ['an abort', AbortSignal.abort().reason, 'cancelled'],
  ['a value that is not an Error', { code: 'not_found' }, 'unknown'],
];
for (const [what, thrown, code] of table) {
  test(`the class of ${what} is ${code}`, () => assert.equal(errorCode(thrown), code));
}

test('a system error is described in words, naming its object only once', () => {
  const thrownBy = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };
  const missing = thrownBy(() => readFileSync('/no/such/file'));
  assert.equal(errorMessage(missing), 'open /no/such/file: no such file or directory');
  assert.equal(
    errorMessage(wrapError('read the settings', missing)),
    'read the settings: open /no/such/file: no such file or directory',
  );
  assert.equal(errorMessage(wrapError('read /no/such/file', missing)), 'read /no/such/file: no such file or directory');
  assert.equal(errorMessage(thrownBy(() => readFileSync('/'))), 'it is a directory');
  const moved = thrownBy(() => renameSync('/no/a', '/no/b'));
  assert.equal(errorMessage(moved), 'rename /no/b: no such file or directory');
  const refused = { errno: -111, code: 'ECONNREFUSED', syscall: 'connect', address: '127.0.0.1', port: 1 };
  const refusal = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), refused);
  assert.equal(errorMessage(refusal), 'connect to 127.0.0.1:1: connection refused');
  // the system error is omitted, because the message of the PodwrightError that it caused already covers it
  assert.equal(errorMessage(new PodwrightError('unavailable', 'no node runs', { cause: refusal })), 'no node runs');
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND no.test'), {
    ...{ errno: -3008, code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'no.test' },
  });
  assert.equal(errorMessage(unknown), 'look up no.test: no such host');
  const own = Object.assign(new Error('the transfer ended early'), { code: 'ECONNRESET' });
  assert.equal(errorMessage(own), 'the transfer ended early');
});

test('a wrapped error keeps its class, and its message contains each cause once', () => {
  const wrapped = wrapError('start pod a', new PodwrightError('not_found', 'no image b'));
  assert.equal(wrapped.code, 'not_found');
  assert.equal(errorMessage(wrapped), 'start pod a: no image b');
  assert.equal(errorMessage(new Error('outer', { cause: new Error('inner') })), 'outer: inner');
});
