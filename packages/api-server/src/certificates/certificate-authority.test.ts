import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { errorCode } from '@podwright/base';
import { CertificateAuthority } from './certificate-authority.ts';
import { ServingCertificates, servingNames } from './serving-certificate.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pw-authority-'));
after(() => rmSync(scratch, { recursive: true }));

const NOW = Date.parse('2026-01-01T00:00:00Z');
const open = (name: string) => CertificateAuthority.open(join(scratch, name), () => NOW);

test('an authority is created once, for root only', async () => {
  const first = await open('a');
  const path = join(scratch, 'a/authority.pem');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(scratch, 'a')).mode & 0o777, 0o700);
  const second = await open('a');
  assert.equal(second.certificate, first.certificate);
  assert.equal(new X509Certificate(first.certificate).ca, true);
});

test('certificates for clients and servers are verified with the authority', async () => {
  const authority = await open('b');
  const issuer = new X509Certificate(authority.certificate);
  const client = new X509Certificate(authority.client({ commonName: 'alice', organizations: ['x', 'y'] }).certificate);
  const server = new X509Certificate(authority.server(['localhost', '127.0.0.1', '::1']).certificate);
  for (const one of [client, server]) assert.ok(one.verify(issuer.publicKey) && one.checkIssued(issuer) && !one.ca);
  assert.equal(client.subject, 'O=x\nO=y\nCN=alice');
  assert.deepEqual(client.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.deepEqual(server.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(server.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(server.checkHost('localhost'), 'localhost');
  assert.equal(server.checkHost('example.com'), undefined);
  assert.ok(client.validFromDate.getTime() < NOW && client.validToDate.getTime() > NOW);
});

test('a damaged file, and a key of another authority, are reported', async () => {
  const [a, b] = [await open('c'), await open('d')];
  const path = join(scratch, 'd/authority.pem');
  const key = readFileSync(join(scratch, 'c/authority.pem'), 'utf8').slice(a.certificate.length);
  for (const content of ['', b.certificate, b.certificate + key]) {
    writeFileSync(path, content);
    await assert.rejects(open('d'), (error) => errorCode(error) === 'data_loss', content.slice(0, 30));
  }
});

test('the names of the server are those of its Service and of the host', () => {
  const names = servingNames(['api.example.com', 'not a name']);
  for (const name of ['localhost', 'kubernetes.default.svc.cluster.local', '127.0.0.1', '::1', 'api.example.com'])
    assert.ok(names.includes(name), name);
  assert.ok(!names.includes('not a name'));
  assert.equal(new Set(names).size, names.length);
});

test('the serving certificate is replaced before it expires', async () => {
  const authority = await open('e');
  const { promise, resolve } = Promise.withResolvers<string>();
  using certificates = new ServingCertificates({
    authority,
    names: () => ['localhost'],
    replace: ({ certificate }) => resolve(certificate),
    lifeMs: 50,
  });
  const first = certificates.start().certificate;
  assert.notEqual(await promise, first);
});
