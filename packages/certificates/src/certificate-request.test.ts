import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { findProgram } from '@podwright/host';
import { factsOf, satisfies } from './certificate-pair.ts';
import { type CertificateSubject, certificateRequest, nodeSubject } from './certificate-request.ts';
import { childrenOf, TestAuthority } from './cluster-signer.fixture.ts';
import { readAll, readObjectIdentifier } from './der.ts';
import { OID } from './x509.ts';

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const SERVER = nodeSubject('a.example', ['a.example', 'b', '192.0.2.1', '2001:db8::1']);

const bytesOf = (pem: string) => Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64');

test('a request has a node’s subject, in Go’s order', () => {
  const [request] = readAll(bytesOf(certificateRequest(nodeSubject('a'), key)));
  const [version, subject, , attributes] = childrenOf(request, 0);
  assert.deepEqual([...version!.content], [0]);
  const names = childrenOf(subject).map((attribute) => childrenOf(attribute, 0)[1]!);
  assert.deepEqual(
    names.map(({ tag, content }) => [tag, content.toString()]),
    [
      [0x13, 'system:nodes'],
      [0x13, 'system:node:a'],
    ],
  );
  assert.equal(attributes!.content.length, 0);
  assert.equal(readObjectIdentifier(childrenOf(request, 1)[0]!), OID.ecdsaSha256);
});

test('a certificate request has all requested names', () => {
  const certificate = new X509Certificate(new TestAuthority().sign(certificateRequest(SERVER, key)));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(key.export({ type: 'sec1', format: 'pem' }))));
  const facts = factsOf(certificate);
  assert.deepEqual([facts.commonName, facts.organizations], ['system:node:a.example', ['system:nodes']]);
  const check = (wanted: Partial<CertificateSubject>, expected: boolean) =>
    assert.equal(satisfies(facts, { ...SERVER, ...wanted }), expected, JSON.stringify(wanted));
  check({}, true);
  check({ names: ['192.0.2.1'] }, true);
  check({ names: ['192.0.2.2'] }, false);
  check({ names: ['c'] }, false);
  check({ commonName: 'system:node:b' }, false);
  check({ organizations: ['system:masters'] }, false);
});

test('a name with characters outside PrintableString is encoded as UTF-8', () => {
  const signed = new TestAuthority().sign(certificateRequest(nodeSubject('a_ü'), key));
  assert.equal(factsOf(new X509Certificate(signed)).commonName, 'system:node:a_ü');
});

test('OpenSSL can parse the request, if it is installed', () => {
  const program = findProgram('openssl');
  const read = (request: string) =>
    program === undefined
      ? undefined
      : execFileSync(program, ['req', '-noout', '-verify', '-subject', '-text'], {
          input: request,
          encoding: 'utf8',
          stdio: 'pipe',
        });
  const client = read(certificateRequest(nodeSubject('a'), key));
  const server = read(certificateRequest(SERVER, key));
  assert.match(client ?? 'O = system:nodes, CN = system:node:a', /O ?= ?system:nodes, CN ?= ?system:node:a/);
  const names = 'DNS:a.example, DNS:b, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1';
  assert.match(server ?? names, new RegExp(names));
});
