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

test('a CA is created once, readable by root only', async () => {
  const first = await open('a');
  const path = join(scratch, 'a/authority.pem');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(scratch, 'a')).mode & 0o777, 0o700);
  const second = await open('a');
  assert.equal(second.certificate, first.certificate);
  assert.equal(new X509Certificate(first.certificate).ca, true);
});

test('client and server certificates verify against the CA', async () => {
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

test('a damaged file or a key of another CA is reported', async () => {
  const [a, b] = [await open('c'), await open('d')];
  const path = join(scratch, 'd/authority.pem');
  const key = readFileSync(join(scratch, 'c/authority.pem'), 'utf8').slice(a.certificate.length);
  for (const content of ['', b.certificate, b.certificate + key]) {
    writeFileSync(path, content);
    await assert.rejects(open('d'), (error) => errorCode(error) === 'data_loss', content.slice(0, 30));
  }
});

test('the server’s names are those of its Service and host', () => {
  const names = servingNames(['api.example.com', 'not a name']);
  for (const name of ['localhost', 'kubernetes.default.svc.cluster.local', '127.0.0.1', '::1', 'api.example.com'])
    assert.ok(names.includes(name), name);
  assert.ok(!names.includes('not a name'));
  assert.equal(new Set(names).size, names.length);
});

const DAY_MS = 86_400_000;
const validityOf = (certificate: string) => {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() };
};

test('the serving certificate is replaced before it expires, and when the system clock is set', async () => {
  let nowMs = NOW;
  const authority = await CertificateAuthority.open(join(scratch, 'e'), () => nowMs);
  const served: string[] = [];
  const replace = ({ certificate }: { certificate: string }) => void served.push(certificate);
  const certificates = new ServingCertificates({ authority, names: () => ['localhost'], replace, now: () => nowMs });
  const countAt = (days: number) => {
    nowMs = NOW + days * DAY_MS;
    certificates.check();
    for (const certificate of served.slice(-1)) {
      const { fromMs, toMs } = validityOf(certificate);
      assert.ok(fromMs <= nowMs && nowMs < toMs);
    }
    return served.length;
  };
  served.push(certificates.start().certificate);
  assert.deepEqual([countAt(0), countAt(100), countAt(260), countAt(260)], [1, 1, 2, 2]);
  assert.deepEqual([countAt(2000), countAt(0), countAt(0)], [3, 4, 4], 'set forward, and back again');
});

test('the serving certificate is replaced if the host’s address changes', async () => {
  const names = ['localhost', '192.0.2.1'];
  const served: string[] = [];
  const replace = ({ certificate }: { certificate: string }) => void served.push(certificate);
  const parts = { authority: await open('h'), names: () => names, replace, now: () => NOW };
  const certificates = new ServingCertificates(parts);
  certificates.start();
  names.push('fe80::1');
  certificates.check();
  assert.equal(served.length, 0);
  names.push('192.0.2.2');
  certificates.check();
  certificates.check();
  assert.equal(served.length, 1);
  assert.equal(new X509Certificate(served[0]!).checkIP('192.0.2.2'), '192.0.2.2');
});

test('the serving certificate is replaced if the host gets a name that begins like a link-local address', async () => {
  const names = ['localhost'];
  const served: string[] = [];
  const replace = ({ certificate }: { certificate: string }) => void served.push(certificate);
  const certificates = new ServingCertificates({
    authority: await open('i'),
    names: () => names,
    replace,
    now: () => NOW,
  });
  certificates.start();
  names.push('feature-1');
  certificates.check();
  assert.equal(new X509Certificate(served[0]!).checkHost('feature-1'), 'feature-1');
});

test('certificates are valid even if the clock was a time zone ahead when they were issued', async () => {
  const authority = await open('f');
  for (const certificate of [authority.certificate, authority.server(['localhost']).certificate])
    assert.ok(validityOf(certificate).fromMs <= NOW - 14 * 3_600_000);
});

test('a CA certificate not valid by the clock is replaced, keeping the key', async () => {
  const openAt = (days: number) => CertificateAuthority.open(join(scratch, 'g'), () => NOW + days * DAY_MS);
  const ahead = await openAt(1000);
  const client = new X509Certificate(ahead.client({ commonName: 'alice' }).certificate);
  const renewed = await openAt(0);
  const issuer = new X509Certificate(renewed.certificate);
  const { fromMs, toMs } = validityOf(renewed.certificate);
  assert.ok(fromMs <= NOW && toMs === validityOf(ahead.certificate).toMs, 'the validity is only extended');
  assert.ok(client.verify(issuer.publicKey) && client.checkIssued(issuer));
  assert.equal((await openAt(0)).certificate, renewed.certificate, 'once');
  const old = await openAt(20_000);
  assert.ok(validityOf(old.certificate).toMs > NOW + 20_000 * DAY_MS);
});
