/** The audit policy (audit.k8s.io/v1 Policy), restricted to what applies to this server's requests. */
import { PodwrightError } from '@podwright/base';
import { type JsonObject, listAt, objectAt, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';
import { parseDocument } from 'yaml';
import type { ObservedRequest } from '../server/request-observer.ts';

export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete';

export type AuditDecision = { level: AuditLevel; omitStages: readonly string[]; omitManagedFields: boolean };

export const AUDIT_LEVELS: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse'];
const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];

type Rule = AuditDecision & { matches: (request: ObservedRequest) => boolean };

/** Default policy: logs all requests without their bodies. */
export const METADATA_POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{ level: Metadata }]
`;

/** Resources whose bodies contain secrets and are never logged. */
const SECRET: readonly string[] = ['secrets', 'serviceaccounts/token', 'tokenreviews'];

export class AuditPolicy {
  readonly #rules: readonly Rule[];

  /** Throws `invalid_argument` if the text is not a valid policy. */
  constructor(text: string) {
    const policy = parsed(text);
    if (textAt(policy, 'apiVersion') !== 'audit.k8s.io/v1' || textAt(policy, 'kind') !== 'Policy')
      throw invalidPolicy('it must be of the kind Policy in audit.k8s.io/v1');
    const omitted = stagesAt(policy);
    const rules = objectsAt(policy, 'rules');
    if (rules.length === 0) throw invalidPolicy('it has no rules');
    this.#rules = rules.map((rule) => readRule(rule, policy, omitted));
  }

  /** Returns the decision of the first matching rule. Requests that match no rule are not logged. */
  decide(request: ObservedRequest): AuditDecision {
    return this.#rules.find(({ matches }) => matches(request)) ?? NOT_LOGGED;
  }
}

const NOT_LOGGED: AuditDecision = { level: 'None', omitStages: [], omitManagedFields: false };

const invalidPolicy = (problem: string, cause?: unknown) =>
  new PodwrightError('invalid_argument', `read the audit policy: ${problem}`, { cause });

function parsed(text: string): JsonObject {
  const document = parseDocument(text, { logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) throw invalidPolicy('it is not valid YAML', error);
  return objectAt(document.toJS({ maxAliasCount: 100 })) ?? {};
}

function stagesAt(value: JsonObject): string[] {
  const stages = textsAt(value, 'omitStages');
  const unknown = stages.find((stage) => !STAGES.includes(stage));
  if (unknown !== undefined) throw invalidPolicy(`unknown stage ${unknown}`);
  return [...stages];
}

function readRule(rule: JsonObject, policy: JsonObject, omitted: readonly string[]): Rule {
  const level = AUDIT_LEVELS.find((one) => one === textAt(rule, 'level'));
  if (level === undefined) throw invalidPolicy(`unknown level ${JSON.stringify(rule.level)}`);
  const isOfResources = ['resources', 'namespaces'].some((field) => listAt(rule, field).length > 0);
  if (isOfResources && textsAt(rule, 'nonResourceURLs').length > 0)
    throw invalidPolicy('a rule cannot apply to both regular resources and non-resource URLs');
  return {
    level,
    omitStages: [...omitted, ...stagesAt(rule)],
    omitManagedFields: (rule.omitManagedFields ?? policy.omitManagedFields) === true,
    matches: (request) => matchesRule(rule, request),
  };
}

/** Whether a value is in one of a rule's lists, such as its verbs. An empty list contains every value. */
const isIn = (list: readonly string[], value: string): boolean => list.length === 0 || list.includes(value);

function matchesRule(rule: JsonObject, { info, user }: ObservedRequest): boolean {
  const { username = '', groups = [] } = user ?? {};
  const wanted = textsAt(rule, 'userGroups');
  if (!isIn(textsAt(rule, 'users'), username) || !isIn(textsAt(rule, 'verbs'), info?.verb ?? '')) return false;
  if (wanted.length > 0 && !groups.some((group) => wanted.includes(group))) return false;
  const urls = textsAt(rule, 'nonResourceURLs');
  const resources = objectsAt(rule, 'resources');
  const namespaces = textsAt(rule, 'namespaces');
  if (!info?.isResourceRequest) {
    if (urls.length > 0) return urls.some((url) => matchesPath(url, info?.path ?? ''));
    return resources.length === 0 && namespaces.length === 0;
  }
  if (urls.length > 0 || !isIn(namespaces, info.namespace)) return false;
  return resources.length === 0 || resources.some((one) => matchesResource(one, info));
}

const matchesPath = (url: string, path: string): boolean =>
  url === '*' || (url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : path === url);

type Target = { apiGroup: string; resource: string; subresource: string; name: string };

function matchesResource(wanted: JsonObject, { apiGroup, resource, subresource, name }: Target): boolean {
  if (textAt(wanted, 'group') !== apiGroup) return false;
  const names = textsAt(wanted, 'resourceNames');
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  const list = textsAt(wanted, 'resources');
  const isNamed = list.some(
    (one) =>
      one === '*' ||
      one === combined ||
      (subresource !== '' && (one === `*/${subresource}` || one === `${resource}/*`)),
  );
  return (list.length === 0 || isNamed) && isIn(names, name);
}

/** Whether the request's bodies contain secrets. */
export function hasSecretBodies({ info }: ObservedRequest): boolean {
  if (!info?.isResourceRequest) return false;
  const { apiGroup, resource, subresource } = info;
  const isKnown = apiGroup === '' || apiGroup === 'authentication.k8s.io';
  return isKnown && SECRET.includes(subresource === '' ? resource : `${resource}/${subresource}`);
}
