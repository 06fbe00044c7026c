/** Matches requests against the rules of a FlowSchema (apiserver, util/flowcontrol/rule.go). */
import { type ApiObject, booleanAt, type JsonObject, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';
import type { FlowRequest } from './flow-request.ts';

type Matches = (request: Omit<FlowRequest, 'caller'>) => boolean;

const ANY = '*';
const ACCOUNT_PREFIX = 'system:serviceaccount:';

/** Returns a function that checks whether a request matches the rules of a FlowSchema, which must be valid. */
export function matcherOf(schema: ApiObject): Matches {
  const rules = objectsAt(schema, 'spec', 'rules').map((rule): Matches => {
    const isSubject = subjectMatcher(objectsAt(rule, 'subjects'));
    const resourceRules = objectsAt(rule, 'resourceRules').map(resourceMatcher);
    const otherRules = objectsAt(rule, 'nonResourceRules').map(pathMatcher);
    return (request) => {
      if (!isSubject(request.user)) return false;
      const rules = request.info.isResourceRequest ? resourceRules : otherRules;
      return rules.some((matches) => matches(request));
    };
  });
  return (request) => rules.some((matches) => matches(request));
}

function subjectMatcher(subjects: readonly JsonObject[]): (user: FlowRequest['user']) => boolean {
  const named = (kind: string, field: string) =>
    new Set(subjects.filter((one) => textAt(one, 'kind') === kind).map((one) => textAt(one, field, 'name')));
  const users = named('User', 'user');
  const groups = named('Group', 'group');
  const accounts = subjects.filter((one) => textAt(one, 'kind') === 'ServiceAccount').map(accountMatcher);
  return ({ username, groups: ofUser }) =>
    users.has(ANY) ||
    users.has(username) ||
    groups.has(ANY) ||
    ofUser.some((group) => groups.has(group)) ||
    accounts.some((matches) => matches(username));
}

function accountMatcher(subject: JsonObject): (username: string) => boolean {
  const namespace = textAt(subject, 'serviceAccount', 'namespace');
  const name = textAt(subject, 'serviceAccount', 'name');
  const prefix = `${ACCOUNT_PREFIX}${namespace}:`;
  return (username) => (name === ANY ? username.startsWith(prefix) : username === `${prefix}${name}`);
}

function resourceMatcher(rule: JsonObject): Matches {
  const isVerb = oneOf(rule, 'verbs');
  const isResource = oneOf(rule, 'resources');
  const isGroup = oneOf(rule, 'apiGroups');
  const isNamespace = oneOf(rule, 'namespaces');
  const hasClusterScope = booleanAt(rule, 'clusterScope');
  return ({ info: { verb, resource, subresource, apiGroup, namespace } }) =>
    isVerb(verb) &&
    isResource(subresource === '' ? resource : `${resource}/${subresource}`) &&
    isGroup(apiGroup) &&
    (namespace === '' ? hasClusterScope : isNamespace(namespace));
}

/**
 * Matches requests for non-resource URLs by verb and path. A path in a rule matches itself and all paths under it. With a trailing `*`, it
 * matches only the paths under it.
 */
function pathMatcher(rule: JsonObject): Matches {
  const isVerb = oneOf(rule, 'verbs');
  const paths = textsAt(rule, 'nonResourceURLs').map((path) => {
    const stem = path.endsWith(ANY) ? path.slice(0, -1) : path;
    return { path, prefix: stem.endsWith('/') ? stem : `${stem}/` };
  });
  const isPath = (sent: string) =>
    paths.some(({ path, prefix }) => path === ANY || path === sent || sent.startsWith(prefix));
  return ({ info: { verb, path } }) => isVerb(verb) && isPath(path);
}

function oneOf(rule: JsonObject, field: string): (value: string) => boolean {
  const values = new Set(textsAt(rule, field));
  return values.has(ANY) ? () => true : (value) => values.has(value);
}
