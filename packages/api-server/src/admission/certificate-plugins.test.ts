import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import type { AuthorizationAttributes } from '../authorization/authorizer.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificate-plugins.ts';
import { readSubject } from './certificate-request.ts';
import { admit, object, rejects } from './test-admission.fixture.ts';

const RESOURCE = 'certificatesigningrequests.certificates.k8s.io';

/** The field `spec.request` of a request made by OpenSSL. */
function requestFor(subject: string, kind = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']): string {
  const pem = execFileSync(
    'openssl',
    ['req', '-new', '-newkey', ...kind, '-nodes', '-keyout', '/dev/null', '-utf8', '-subj', subject],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  return pem.toString('base64');
}

/** An authorizer that allows a verb for signers with the given names. */
const allowing = (verb: string, ...names: string[]) => ({
  authorize: (request: AuthorizationAttributes) => ({
    decision:
      request.verb === verb && request.resource === 'signers' && names.includes(request.name)
        ? ('allow' as const)
        : ('no opinion' as const),
    reason: '',
  }),
});
const request = (status: Record<string, unknown> = {}): ApiObject =>
  object('csr-1', { spec: { signerName: 'acme.com/web' }, status });

test('the subject of a request is read', () => {
  const subject = readSubject(requestFor('/O=system:nodes/O=ü/CN=system:node:n1'));
  assert.deepEqual(subject, { commonName: 'system:node:n1', organizations: ['system:nodes', 'ü'] });
  const rsa = readSubject(requestFor('/C=DE/CN=a', ['rsa:2048']));
  assert.deepEqual(rsa, { commonName: 'a', organizations: [] });
});

test('other texts are no requests', () => {
  const pem = (body: Buffer) =>
    Buffer.from(
      `-----BEGIN CERTIFICATE REQUEST-----\n${body.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`,
    ).toString('base64');
  const check = (field: string) => assert.equal(readSubject(field), undefined);
  check('');
  check('!');
  check(Buffer.from('-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----').toString('base64'));
  const valid = Buffer.from(requestFor('/O=dev/CN=a'), 'base64').toString();
  const other = '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n';
  check(Buffer.from(other + valid).toString('base64'));
  check(Buffer.from(valid.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST')).toString('base64'));
  const der = Buffer.from(valid.replace(/-----[A-Z ]+-----/g, ''), 'base64');
  const encoding = der.indexOf(Buffer.from([0x0c, 0x03, 0x64, 0x65, 0x76])); // the text "dev"
  assert.deepEqual(readSubject(pem(der))?.organizations, ['dev']);
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

test('a request is approved by those who may approve for its signer or the domain of it', async () => {
  const write = { to: `${RESOURCE}/approval`, object: request(), oldObject: request() };
  await admit(certificateApproval(allowing('approve', 'acme.com/web')), write);
  await admit(certificateApproval(allowing('approve', 'acme.com/*')), write);
  const refusal = 'user not permitted to approve requests with signerName "acme.com/web"';
  await rejects(certificateApproval(allowing('approve', 'acme.com/api', '*')), write, refusal);
  await rejects(certificateApproval(allowing('sign', 'acme.com/*')), write, refusal);
  const renamed = { ...write, object: object('csr-1', { spec: { signerName: 'acme.com/api' } }) };
  await rejects(certificateApproval(allowing('approve', 'acme.com/api')), renamed, refusal);
  await admit(certificateApproval(allowing('x')), { ...write, to: `${RESOURCE}/status` });
});

test('a certificate is issued by those who may sign for its signer', async () => {
  const write = (status: Record<string, unknown>) => ({
    to: `${RESOURCE}/status`,
    object: request(status),
    oldObject: request(),
  });
  const refusal = 'user not permitted to sign requests with signerName "acme.com/web"';
  await admit(certificateSigning(allowing('sign', 'acme.com/web')), write({ certificate: 'x' }));
  await rejects(certificateSigning(allowing('approve', 'acme.com/web')), write({ certificate: 'x' }), refusal);
  await rejects(certificateSigning(allowing('x')), write({ conditions: [{ type: 'Failed' }] }), refusal);
  await admit(certificateSigning(allowing('x')), write({}));
});

test('no client certificate is requested for system:masters', async () => {
  const write = (subject: string, signerName = 'kubernetes.io/kube-apiserver-client') => ({
    to: RESOURCE,
    object: object('csr-1', { spec: { signerName, request: subject === '' ? 'x' : requestFor(subject) } }),
  });
  await admit(certificateSubjectRestriction, write('/O=dev/CN=alice'));
  await admit(certificateSubjectRestriction, write('/O=system:masters/CN=alice', 'acme.com/web'));
  await rejects(
    certificateSubjectRestriction,
    write('/O=dev/O=system:masters/CN=alice'),
    'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
  );
  await rejects(
    certificateSubjectRestriction,
    write(''),
    'failed to parse CSR: PEM block type must be CERTIFICATE REQUEST',
  );
});
