import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import type { AuthorizationAttributes } from '../authorization/authorizer.ts';
import { requestFor } from '../certificates/certificate-requests.fixture.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificate-plugins.ts';
import { admit, object, rejects } from './test-admission.fixture.ts';

const RESOURCE = 'certificatesigningrequests.certificates.k8s.io';

/** Returns an authorizer that allows the verb on the named signers only. */
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

test('a request can be approved by users allowed to approve for its signer or the signer’s domain', async () => {
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

test('a certificate can be issued by users allowed to sign for its signer', async () => {
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

test('client certificates for system:masters cannot be requested', async () => {
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
