/**
 * Approves nodes' requests for their own client certificates, and signs approved requests with the cluster's CA (upstream's csrapproving
 * and csrsigning controllers). Other requests are approved by an administrator: `kubectl certificate approve`.
 */

import { type StoredObject, timestamp } from '@podwright/api-machinery';
import { type ApiObject, numberAt, objectAt, objectsAt, textAt, textsAt, withValue } from '@podwright/kube-kinds';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { readCertificateRequest } from '../certificates/certificate-request.ts';
import {
  isSigner,
  KUBELET_CLIENT_SIGNER,
  refusalOf,
  type SignedRequest,
  signRequest,
} from '../certificates/signers.ts';
import type { ControllerParts } from './controller-parts.ts';
import { followStates } from './follow-resource.ts';
import { type Location, locationOf } from './location.ts';
import { NotYet, WorkQueue } from './work-queue.ts';

export type CertificateParts = ControllerParts & {
  authorizer: Authorizer;
  authority: CertificateAuthority;
  now: () => number;
};

/** Delay before the first retry of a request. Doubles with each retry, as in upstream's certificate controllers. */
const FIRST_RETRY_MS = 200;

export const REQUESTS = 'certificatesigningrequests.certificates.k8s.io';

/** Approves and signs certificate requests until the signal aborts. */
export async function handleCertificateRequests(parts: CertificateParts): Promise<void> {
  const handle = (location: Location) => handleRequest(parts, location);
  const failure = 'handle a certificate signing request failed';
  const queue = new WorkQueue({ ...parts, handle, failure, firstRetryMs: FIRST_RETRY_MS });
  const seen = (object: StoredObject) => queue.add(locationOf(REQUESTS, object));
  await Promise.all([followStates(REQUESTS, seen, parts), queue.run()]);
}

async function handleRequest(parts: CertificateParts, location: Location): Promise<void> {
  const { store, registryOf, context } = parts;
  const object = store.get(location)?.decode();
  if (object === undefined || textAt(object, 'status', 'certificate') !== '' || hasCondition(object, 'Failed')) return;
  if (hasCondition(object, 'Denied')) return;
  if (!hasCondition(object, 'Approved')) {
    const approval = approvalOf(object, parts.authorizer);
    if (approval === undefined) return;
    // tries again later: the permission might still be granted, for example if a new node's group is bound after the request was created
    if ('lacks' in approval) throw new NotYet(`the requester lacks the permissions ${approval.lacks.join(' and ')}`);
    const { message } = approval;
    const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
    await registryOf(REQUESTS).change(location, (one) => withCondition(one, condition), context('approval'));
  } else if (isSigner(signerOf(object))) {
    await registryOf(REQUESTS).change(location, (one) => withResult(parts, one), context('status'));
  }
}

export const hasCondition = (object: ApiObject, type: string): boolean =>
  objectsAt(object, 'status', 'conditions').some((one) => one.type === type && one.status === 'True');

const signerOf = (object: ApiObject): string => textAt(object, 'spec', 'signerName');

function withCondition(object: ApiObject, condition: Record<string, string>): ApiObject {
  const present = objectsAt(object, 'status', 'conditions');
  if (present.some(({ type }) => type === 'Approved' || type === 'Denied')) return object; // another client has decided
  return withValue(object, ['status', 'conditions'], [...present, condition]);
}

/** Permissions that a requester needs for its certificate request to be approved, each with the approval's message. */
const SELF = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const OTHER = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

/** The approval message, or the subresources that the requester lacks permission to create. */
export type Approval = { message: string } | { lacks: readonly string[] };

/**
 * Returns the approval of a node's request for its own client certificate. Returns `undefined` for any other request, which is left to an
 * administrator.
 */
export function approvalOf(object: ApiObject, authorizer: Authorizer): Approval | undefined {
  const signed = signedRequest(object);
  if (signerOf(object) !== KUBELET_CLIENT_SIGNER || signed === undefined) return undefined;
  if (refusalOf(KUBELET_CLIENT_SIGNER, signed) !== undefined) return undefined;
  const username = textAt(object, 'spec', 'username');
  const isSelf = username === signed.request.subject.commonName;
  const permissions = isSelf ? [SELF, OTHER] : [OTHER];
  const user = {
    username,
    uid: textAt(object, 'spec', 'uid'),
    groups: [...textsAt(object, 'spec', 'groups')],
    extra: (objectAt(object, 'spec', 'extra') ?? {}) as Record<string, string[]>,
  };
  const [apiGroup, resource] = ['certificates.k8s.io', 'certificatesigningrequests'];
  const target = { verb: 'create', isResourceRequest: true, apiGroup, resource, namespace: '', name: '', path: '' };
  const isAllowed = (subresource: string) =>
    authorizer.authorize({ ...target, user, subresource }).decision === 'allow';
  const permission = permissions.find(({ subresource }) => isAllowed(subresource));
  if (permission !== undefined) return { message: permission.message };
  return { lacks: permissions.map(({ subresource }) => subresource) };
}

function signedRequest(object: ApiObject): SignedRequest | undefined {
  const request = readCertificateRequest(textAt(object, 'spec', 'request'));
  return request && { request, usages: textsAt(object, 'spec', 'usages') };
}

/** Returns the certificate request with the issued certificate in its status, or with a condition that says why none was issued. */
function withResult({ authority, now }: CertificateParts, object: ApiObject): ApiObject {
  if (textAt(object, 'status', 'certificate') !== '') return object;
  const signed = signedRequest(object);
  const refusal = signed === undefined ? 'the request cannot be parsed' : refusalOf(signerOf(object), signed);
  if (signed !== undefined && refusal === undefined) {
    const expirationSeconds = numberAt(object, 'spec', 'expirationSeconds');
    const certificate = signRequest(authority, signed, { nowMs: now(), expirationSeconds });
    return withValue(object, ['status', 'certificate'], Buffer.from(certificate).toString('base64'));
  }
  const lastUpdateTime = timestamp(now());
  const failed = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message: refusal,
    lastUpdateTime,
  };
  return withValue(object, ['status', 'conditions'], [...objectsAt(object, 'status', 'conditions'), failed]);
}
