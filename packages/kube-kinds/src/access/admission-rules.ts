/** Rules for matching requests, as used in webhooks and policies. */
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { duplicates } from '../repeats.ts';
import { problemsAt } from '../rules.ts';
import { pathSegmentProblems } from '../texts.ts';
import { type JsonObject, textsAt, valueAt } from '../values.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

export const withScope = (rule: JsonObject): JsonObject => ({ ...rule, scope: rule.scope ?? '*' });

/** Validates a rule of an admission policy, which, unlike a webhook rule, may list resource names. */
export function validateNamedRule(field: string, rule: JsonObject): FieldError[] {
  const names = textsAt(rule, 'resourceNames');
  const at = (index: number) => `${field}.resourceNames[${index}]`;
  return [
    ...names.flatMap((name, index) => problemsAt(at(index), name, pathSegmentProblems(name))),
    ...duplicates(names, at),
    ...validateRule(field, rule),
  ];
}

export function validateRule(field: string, rule: JsonObject): FieldError[] {
  const operations = textsAt(rule, 'operations');
  const versions = textsAt(rule, 'apiVersions');
  const scope = valueAt(rule, 'scope');
  const wrongScope = scope !== undefined && !SCOPES.includes(String(scope));
  return [
    ...validateWildcard(`${field}.operations`, operations, 'operations'),
    ...operations.flatMap((operation, index) =>
      OPERATIONS.includes(operation) ? [] : [notSupported(`${field}.operations[${index}]`, operation, OPERATIONS)],
    ),
    ...validateWildcard(`${field}.apiGroups`, textsAt(rule, 'apiGroups'), 'API groups'),
    ...validateWildcard(`${field}.apiVersions`, versions, 'API versions'),
    ...versions.flatMap((version, index) => (version === '' ? [required(`${field}.apiVersions[${index}]`)] : [])),
    ...validateResources(`${field}.resources`, textsAt(rule, 'resources')),
    ...(wrongScope ? [notSupported(`${field}.scope`, scope, SCOPES)] : []),
  ];
}

/** Requires a rule's list to contain at least one value. If it contains `*`, that must be the only value. */
function validateWildcard(field: string, values: readonly string[], named: string): FieldError[] {
  if (values.length === 0) return [required(field)];
  const isMixed = values.length > 1 && values.includes('*');
  return isMixed ? [invalidValue(field, values, `if '*' is present, must not specify other ${named}`)] : [];
}

function validateResources(field: string, resources: readonly string[]): FieldError[] {
  const isDouble = resources.includes('*/*') && resources.length > 1;
  // like upstream, only consider the last resource without a subresource
  const last = resources.findLast((one) => one !== '' && !one.includes('/'));
  const isSingle = resources.includes('*') && last !== undefined && last !== '*';
  const double = "if '*/*' is present, must not specify other resources";
  const single = "if '*' is present, must not specify other resources without subresources";
  return [
    ...(resources.length === 0 ? [required(field)] : []),
    ...validateEach(field, resources),
    ...(isDouble ? [invalidValue(field, resources, double)] : []),
    ...(isSingle ? [invalidValue(field, resources, single)] : []),
  ];
}

/** Rejects resources already covered by an earlier wildcard. */
function validateEach(field: string, resources: readonly string[]): FieldError[] {
  const withAnySubresource = new Set<string>();
  const ofAnyResource = new Set<string>();
  return resources.flatMap((resource, index) => {
    const at = `${field}[${index}]`;
    if (resource === '') return [required(at)];
    const slash = resource.indexOf('/');
    if (slash < 0) return [];
    const [name, subresource] = [resource.slice(0, slash), resource.slice(slash + 1)];
    const covered = (by: string) => invalidValue(at, resource, `if '${by}' is present, must not specify ${resource}`);
    const errors = [
      ...(withAnySubresource.has(name) ? [covered(`${name}/*`)] : []),
      ...(ofAnyResource.has(subresource) ? [covered(`*/${subresource}`)] : []),
    ];
    if (subresource === '*') withAnySubresource.add(name);
    if (name === '*') ofAnyResource.add(subresource);
    return errors;
  });
}
