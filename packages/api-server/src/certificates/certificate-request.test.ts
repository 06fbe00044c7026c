import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCertificateRequest } from './certificate-request.ts';
import { requestFor } from './certificate-requests.fixture.ts';

test('the subject of a request is parsed', () => {
  const subject = readCertificateRequest(requestFor('/O=system:nodes/O=ü/CN=system:node:n1'))?.subject;
  assert.deepEqual(subject, { commonName: 'system:node:n1', organizations: ['system:nodes', 'ü'] });
  const rsa = readCertificateRequest(requestFor('/C=DE/CN=a', { kind: ['rsa:2048'] }))?.subject;
  assert.deepEqual(rsa, { commonName: 'a', organizations: [] });
});

test('other strings are not requests', () => {
  const pem = (body: Buffer) =>
    Buffer.from(
      `-----BEGIN CERTIFICATE REQUEST-----\n${body.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`,
    ).toString('base64');
  const check = (field: string) => assert.equal(readCertificateRequest(field), undefined);
  check('');
  check('!');
  check(Buffer.from('-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----').toString('base64'));
  const valid = Buffer.from(requestFor('/O=dev/CN=a'), 'base64').toString();
  const other = '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n';
  check(Buffer.from(other + valid).toString('base64'));
  check(Buffer.from(valid.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST')).toString('base64'));
  const der = Buffer.from(valid.replace(/-----[A-Z ]+-----/g, ''), 'base64');
  const encoding = der.indexOf(Buffer.from([0x0c, 0x03, 0x64, 0x65, 0x76])); // the text "dev"
  assert.deepEqual(readCertificateRequest(pem(der))?.subject.organizations, ['dev']);
  der[encoding] = 0x1e;
  check(pem(der));
  check(pem(Buffer.from([0x30, 0x80])));
  check(pem(Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff])));
  check(pem(Buffer.from([0x30, 0x05, 0x30])));
  check(pem(Buffer.from([0x30, 0x02, 0x30, 0x00])));
  check(pem(Buffer.alloc(10_000, 0x30)));
  const whole = Buffer.from(
    Buffer.from(requestFor('/CN=a'), 'base64')
      .toString()
      .replace(/-----[A-Z ]+-----/g, ''),
    'base64',
  );
  for (let length = 0; length < 40; length++) check(pem(whole.subarray(0, length)));
});

test('the requested names are parsed, ignoring types that no signer issues', () => {
  const names = 'DNS:a.example.com,IP:192.0.2.1,IP:2001:db8::1,email:a@example.com,URI:spiffe://x/y,RID:1.2.3';
  const read = readCertificateRequest(requestFor('/CN=a', { names }))?.names;
  assert.deepEqual(
    read?.map(({ type }) => type),
    ['dns', 'ip', 'ip', 'email', 'uri'],
  );
  assert.equal(read?.[0]?.encoded.subarray(2).toString(), 'a.example.com');
  assert.deepEqual(readCertificateRequest(requestFor('/CN=a'))?.names, []);
});

test('a request with an invalid name, or a subject that parsers could interpret differently, is rejected', () => {
  const changed = (request: string, from: string, to: string) => {
    const lines = Buffer.from(request, 'base64')
      .toString()
      .replace(/-----[A-Z ]+-----/g, '');
    const der = Buffer.from(lines, 'base64');
    const at = der.indexOf(from);
    assert.ok(at > 0);
    der.write(to, at, 'latin1');
    const text = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    return readCertificateRequest(Buffer.from(text).toString('base64'));
  };
  const request = requestFor('/O=dev/CN=abc', { names: 'DNS:xyz' });
  assert.ok(changed(request, 'abc', 'abd'));
  assert.equal(changed(request, 'abc', 'a\0c'), undefined);
  assert.equal(changed(request, 'abc', 'a\nc'), undefined);
  assert.equal(changed(request, 'abc', 'a\xffc'), undefined);
  assert.equal(changed(request, 'xyz', 'x z'), undefined);
  assert.equal(changed(request, 'xyz', 'x\0z'), undefined);
});
