import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { dns1123LabelProblems } from '../names.ts';
import { booleanAt, type JsonObject, listAt, objectsAt, textsAt } from '../values.ts';
import { validateFlowSubject } from './flow-subjects.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

/** Validates a flow schema rule: which requests it matches, from which subjects. */
export function validateFlowRule(field: string, rule: JsonObject): FieldError[] {
  const subjects = objectsAt(rule, 'subjects');
  const lists = ['resourceRules', 'nonResourceRules'];
  const isEmpty = lists.every((name) => listAt(rule, name).length === 0);
  const none = 'at least one of resourceRules and nonResourceRules has to be non-empty';
  return [
    ...(subjects.length === 0 ? [required(`${field}.subjects`, 'subjects must contain at least one value')] : []),
    ...subjects.flatMap((subject, index) => validateFlowSubject(`${field}.subjects[${index}]`, subject)),
    ...(isEmpty ? [required(field, none)] : []),
    ...objectsAt(rule, 'resourceRules').flatMap((one, index) =>
      validateResourceRule(`${field}.resourceRules[${index}]`, one),
    ),
    ...objectsAt(rule, 'nonResourceRules').flatMap((one, index) =>
      validateUrlRule(`${field}.nonResourceRules[${index}]`, one),
    ),
  ];
}

function validateVerbs(field: string, verbs: readonly string[]): FieldError[] {
  if (verbs.includes('*')) return validateAlone(field, verbs, 'verbs');
  if (verbs.length === 0) return [required(field, 'verbs must contain at least one value')];
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [notSupported(field, verbs, VERBS)];
}

/** Requires a list that contains `*` to contain no other value. */
const validateAlone = (field: string, values: readonly string[], named: string): FieldError[] =>
  values.length > 1 && values.includes('*')
    ? [invalidValue(field, values, `if '*' is present, must not specify other ${named}`)]
    : [];

function validateResourceRule(field: string, rule: JsonObject): FieldError[] {
  const groups = textsAt(rule, 'apiGroups');
  const resources = textsAt(rule, 'resources');
  const noGroup = required(`${field}.apiGroups`, 'resource rules must supply at least one api group');
  const noResource = required(`${field}.resources`, 'resource rules must supply at least one resource');
  return [
    ...validateVerbs(`${field}.verbs`, textsAt(rule, 'verbs')),
    ...(groups.length === 0 ? [noGroup] : validateAlone(`${field}.apiGroups`, groups, 'api groups')),
    ...(resources.length === 0 ? [noResource] : validateAlone(`${field}.resources`, resources, 'resources')),
    ...validateNamespaces(`${field}.namespaces`, rule),
  ];
}

function validateNamespaces(field: string, rule: JsonObject): FieldError[] {
  const namespaces = textsAt(rule, 'namespaces');
  const none = 'resource rules that are not cluster scoped must supply at least one namespace';
  if (namespaces.length === 0 && !booleanAt(rule, 'clusterScope')) return [required(field, none)];
  if (namespaces.includes('*')) return validateAlone(field, namespaces, 'namespaces');
  return namespaces.flatMap((namespace, index) =>
    dns1123LabelProblems(namespace).map((problem) => {
      const detail = `each member of this list must be '*' or a DNS-1123 label; ${problem}`;
      return invalidValue(`${field}[${index}]`, namespace, detail);
    }),
  );
}

function validateUrlRule(field: string, rule: JsonObject): FieldError[] {
  const urls = textsAt(rule, 'nonResourceURLs');
  const at = `${field}.nonResourceURLs`;
  const each = urls.flatMap((url, index) => {
    const problem = urlProblem(url);
    return problem === undefined ? [] : [invalidValue(`${at}[${index}]`, url, problem)];
  });
  return [
    ...validateVerbs(`${field}.verbs`, textsAt(rule, 'verbs')),
    ...(urls.length === 0 ? [required(at, 'nonResourceURLs must contain at least one value')] : []),
    ...(urls.includes('*') ? validateAlone(at, urls, 'non-resource URLs') : each),
  ];
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const star = url.indexOf('*');
  return star < 0 || (star === url.length - 1 && url.endsWith('/*'))
    ? undefined
    : 'wildcard can only do suffix matching';
}
