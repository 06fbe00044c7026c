/** What the user of the page may do. */
import { call } from './request.ts';

export type AccessAttributes = { verb: string; group: string; resource: string; namespace: string; name: string };

/**
 * Reports whether the API server would allow a request (SelfSubjectAccessReview). Resolves to true if the review fails: the API server
 * checks the request itself anyway. Rejects only if the signal aborts.
 */
export async function isAllowed(resourceAttributes: AccessAttributes, signal: AbortSignal): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  try {
    const path = 'apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const { status } = await call<{ status?: { allowed?: boolean } }>(path, { method: 'POST', body: review, signal });
    return status?.allowed ?? true;
  } catch (error) {
    if (signal.aborted) throw error;
    return true;
  }
}
