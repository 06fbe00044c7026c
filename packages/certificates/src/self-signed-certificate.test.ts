import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { readAll } from './der.ts';
import { selfSignedCertificate } from './self-signed-certificate.ts';

test('a self-signed certificate is a CA for its own names', () => {
  const { certificate, key } = selfSignedCertificate({
    commonName: 'a@1',
    names: ['a', '192.0.2.1', '2001:db8::1', '::ffff:192.0.2.2'],
    notBefore: new Date('2026-01-02T03:04:05Z'),
    notAfter: new Date('2051-01-02T03:04:05Z'),
  });
  const parsed = new X509Certificate(certificate);
  assert.ok(parsed.ca && parsed.verify(parsed.publicKey) && parsed.checkPrivateKey(createPrivateKey(key)));
  assert.deepEqual([parsed.subject, parsed.issuer], ['CN=a@1', 'CN=a@1']);
  const times = [parsed.validFromDate, parsed.validToDate].map((date) => date.toISOString());
  assert.deepEqual(times, ['2026-01-02T03:04:05.000Z', '2051-01-02T03:04:05.000Z']);
  assert.equal(
    parsed.subjectAltName,
    'DNS:a, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1, IP Address:0:0:0:0:0:FFFF:C000:202',
  );
  assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(readAll(parsed.raw).length, 1);
});
