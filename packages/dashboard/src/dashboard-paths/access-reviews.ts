import { isRecord } from '@podwright/base';
import { type JsonCalls, unlessForbidden } from '../upstream/json-calls.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** The attributes of a request, as in a SelfSubjectAccessReview. If `namespace` is unset, the request is for all namespaces. */
type Attributes = { verb: string; group: string; resource: string; subresource?: string; namespace?: string };

/** The access review that determines in which namespaces a user sees pods. */
export const LIST_PODS: Attributes = { verb: 'list', group: '', resource: 'pods' };

/** Returns whether the user may make a request; false if they may not create a SelfSubjectAccessReview either. */
export async function isAllowed(calls: JsonCalls, attributes: Attributes, signal: AbortSignal): Promise<boolean> {
  const review = {
    ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
    spec: { resourceAttributes: attributes },
  };
  const { status } = (await unlessForbidden(calls.review(REVIEWS, review, signal))) ?? {};
  return isRecord(status) && status.allowed === true;
}
