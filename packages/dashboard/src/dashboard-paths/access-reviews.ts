import { isRecord } from '@podwright/base';
import { type JsonCalls, unlessForbidden } from '../upstream/json-calls.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** The attributes of a request, as in a SelfSubjectAccessReview. Without `namespace`, it is about all namespaces. */
type Attributes = { verb: string; group: string; resource: string; subresource?: string; namespace?: string };

/** The request that decides in which namespaces a user sees pods. */
export const LIST_PODS: Attributes = { verb: 'list', group: '', resource: 'pods' };

/** Reports whether the user may make a request. Resolves to false if the user may not ask that. */
export async function isAllowed(calls: JsonCalls, attributes: Attributes, signal: AbortSignal): Promise<boolean> {
  const review = {
    ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
    spec: { resourceAttributes: attributes },
  };
  const { status } = (await unlessForbidden(calls.review(REVIEWS, review, signal))) ?? {};
  return isRecord(status) && status.allowed === true;
}
