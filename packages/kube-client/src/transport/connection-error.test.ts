import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionError } from './connection-error.ts';

test('a certificate that the clock speaks against is told with the clock, which is the first thing to look at', () => {
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
    /^https:\/\/h: its certificate has run out by this host's clock \(20\S+Z\), which may be wrong$/,
  );
  check('ERR_TLS', /^https:\/\/h: certificate$/);
});
