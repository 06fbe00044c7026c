/** Admission plugins that check who may approve and sign CertificateSigningRequests, and which subjects they may request. */

import { type AdmissionAttributes, groupResource } from '@podwright/api-machinery';
import { isSameValue, MASTERS, textAt, valueAt } from '@podwright/kube-kinds';
import type { Authorizer } from '../authorization/authorizer.ts';
import { readCertificateRequest } from '../certificates/certificate-request.ts';
import { type AdmissionPlugin, isWriteOf, rejected } from './admission-plugin.ts';

const REQUESTS = 'certificatesigningrequests.certificates.k8s.io';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** Returns a plugin that lets only users with permission to approve requests for the signer approve them. */
export const certificateApproval = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  validate(attributes) {
    if (isUpdateOf(attributes, 'approval')) checkSigner(authorizer, attributes, 'approve');
  },
});

/** Requires permission to sign for the request's signer if the certificate or the conditions change. */
export const certificateSigning = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateSigning',
  validate(attributes) {
    const { object, oldObject } = attributes;
    const isChanged = (field: string) =>
      !isSameValue(valueAt(object, 'status', field), valueAt(oldObject, 'status', field));
    if (!isUpdateOf(attributes, 'status') || !(isChanged('certificate') || isChanged('conditions'))) return;
    checkSigner(authorizer, attributes, 'sign');
  },
});

/** Rejects requests for client certificates whose organizations include system:masters. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  validate(attributes) {
    const { object } = attributes;
    if (!isWriteOf(attributes, REQUESTS, 'CREATE') || textAt(object, 'spec', 'signerName') !== CLIENT_SIGNER) return;
    const request = readCertificateRequest(textAt(object, 'spec', 'request'));
    if (request === undefined)
      throw rejected(attributes, 'failed to parse CSR: PEM block type must be CERTIFICATE REQUEST');
    if (request.subject.organizations.includes(MASTERS))
      throw rejected(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
  },
};

const isUpdateOf = ({ operation, resource, subresource }: AdmissionAttributes, expected: string): boolean =>
  operation === 'UPDATE' && groupResource(resource) === REQUESTS && subresource === expected;

/** Checks the user's permission on the stored request's signer. Permission on `DOMAIN/*` covers all signers in the domain. */
function checkSigner(authorizer: Authorizer, attributes: AdmissionAttributes, verb: 'approve' | 'sign'): void {
  const { user, oldObject } = attributes;
  const signer = textAt(oldObject, 'spec', 'signerName');
  const target = { isResourceRequest: true, apiGroup: 'certificates.k8s.io', resource: 'signers' };
  const isAllowed = [signer, `${signer.split('/')[0]}/*`].some((name) => {
    const request = { ...target, user, verb, name, subresource: '', namespace: '', path: '' };
    return authorizer.authorize(request).decision === 'allow';
  });
  if (!isAllowed)
    throw rejected(attributes, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}
