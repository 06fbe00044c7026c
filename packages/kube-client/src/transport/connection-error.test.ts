import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionError } from './connection-error.ts';

test('an error about a certificate’s validity period includes the clock', () => {
  const check = (code: string, expected: RegExp) => {
    const { message } = connectionError(Object.assign(new Error('certificate'), { code }), 'https://h');
    assert.match(message, expected);
  };
  check(
    'CERT_NOT_YET_VALID',
    /^https:\/\/h: its certificate is not valid yet by this host's clock \(20\S+Z\), which may be/,
  );
  check(
    'CERT_HAS_EXPIRED',
    /^https:\/\/h: its certificate has expired by this host's clock \(20\S+Z\), which may be wrong$/,
  );
  check('ERR_TLS', /^https:\/\/h: certificate$/);
});
