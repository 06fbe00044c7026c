/** What the user of the page is allowed to do. */
import { call } from './request.ts';

/** The attributes of a request, as in a SelfSubjectAccessReview. If `namespace` is unset, the request is for all namespaces. */
export type AccessAttributes = {
  verb: string;
  group: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
};

const GROUP = 'authorization.k8s.io/v1';

/**
 * Whether the API server would allow a request (SelfSubjectAccessReview). Resolves to true if the review fails, because the API server
 * checks the request itself anyway. Only rejects if the signal aborts.
 */
export async function isAllowed(resourceAttributes: AccessAttributes, signal: AbortSignal): Promise<boolean> {
  const review = { apiVersion: GROUP, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  try {
    const path = `apis/${GROUP}/selfsubjectaccessreviews`;
    const { status } = await call<{ status?: { allowed?: boolean } }>(path, { method: 'POST', body: review, signal });
    return status?.allowed ?? true;
  } catch (error) {
    if (signal.aborted) throw error;
    return true;
  }
}

type Rule = { verbs?: string[]; apiGroups?: string[]; resources?: string[] };
type Rules = { incomplete?: boolean; resourceRules?: Rule[] };

/** Reports whether the user may list all objects of a resource in the namespace of the SelfSubjectRulesReview. */
type MayList = (resource: { group: string; plural: string }) => boolean;

/**
 * Reads which resources the user may list in a namespace (SelfSubjectRulesReview). If the server cannot determine all rules or does not
 * respond, the returned function accepts every resource. Only rejects if the signal aborts.
 */
export async function readMayList(namespace: string, signal: AbortSignal): Promise<MayList> {
  const review = { apiVersion: GROUP, kind: 'SelfSubjectRulesReview', spec: { namespace } };
  try {
    const path = `apis/${GROUP}/selfsubjectrulesreviews`;
    const { status } = await call<{ status?: Rules }>(path, { method: 'POST', body: review, signal });
    return mayListBy(status);
  } catch (error) {
    if (signal.aborted) throw error;
    return () => true;
  }
}

/**
 * Returns a predicate for the resources that the user may list, given the status of a SelfSubjectRulesReview. Rules for individual objects
 * (`resourceNames`) do not permit lists.
 */
export function mayListBy(status: Rules | undefined): MayList {
  if (status === undefined || status.incomplete) return () => true;
  const rules = (status.resourceRules ?? []).filter(
    (rule) => !('resourceNames' in rule && isFilled(rule.resourceNames)),
  );
  const has = (values: string[] = [], wanted: string) => values.includes('*') || values.includes(wanted);
  return ({ group, plural }) =>
    rules.some(
      ({ verbs, apiGroups, resources }) => has(verbs, 'list') && has(apiGroups, group) && has(resources, plural),
    );
}

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
