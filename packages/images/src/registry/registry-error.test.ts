import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyMessage, RegistryStatusError } from './registry-error.ts';

function check(body: unknown, expected: string): void {
  assert.equal(bodyMessage(typeof body === 'string' ? body : JSON.stringify(body)), expected);
}

test('messages in error bodies from registries and token servers are found', () => {
  check({ errors: [{ code: 'DENIED', message: 'no access', detail: {} }] }, 'DENIED: no access');
  check({ errors: [{ code: 'A', message: '' }, { message: 'b' }] }, 'A; b');
  check({ details: 'incorrect username or password' }, 'incorrect username or password');
  check({ message: 'gone', details: 'gone' }, 'gone');
  check({ error: 'invalid_grant', error_description: 'token expired' }, 'token expired; invalid_grant');
});

test('other bodies have no message', () => {
  for (const body of ['', '<html>', 'null', '[]', '{"errors":{}}', '{"errors":[null,1]}', '{"message":1}'])
    check(body, '');
  assert.equal(bodyMessage(JSON.stringify({ message: 'x'.repeat(5000) })).length, 1000);
});

test('Retry-After is a number of seconds or a date', () => {
  const parsed = (value: string) =>
    new RegistryStatusError({ status: 429, headers: { 'retry-after': value } }, 'x').retryAfterMs;
  assert.equal(parsed('7'), 7000);
  const inAnHour = parsed(new Date(Date.now() + 3_600_000).toUTCString());
  assert.ok(inAnHour > 3_500_000 && inAnHour <= 3_600_000, String(inAnHour));
  for (const invalid of ['', '-1', 'soon', new Date(0).toUTCString()]) assert.equal(parsed(invalid), 0, invalid);
});
