/** The scopes of resource quotas. */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { isQuotaResource } from '../resource-names.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textEntriesAt, textsAt, valueAt } from '../values.ts';

const POD_RESOURCES = new Set([
  'pods',
  ...['cpu', 'memory'].flatMap((name) => [name, `limits.${name}`, `requests.${name}`]),
]);
const CLAIM_RESOURCES = new Set(['persistentvolumeclaims', 'requests.storage']);

/** The resources to which each scope can be applied. */
const SCOPES: Record<string, ReadonlySet<string>> = {
  Terminating: POD_RESOURCES,
  NotTerminating: POD_RESOURCES,
  BestEffort: new Set(['pods']),
  NotBestEffort: POD_RESOURCES,
  PriorityClass: POD_RESOURCES,
  VolumeAttributesClass: CLAIM_RESOURCES,
  CrossNamespacePodAffinity: POD_RESOURCES,
};
const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const EXISTENCE_SCOPES = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];
const EXISTENCE_WORDS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

const scopeResources = (scope: string): ReadonlySet<string> | undefined =>
  Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined;

/** Returns the standard resources in a quota to which the scope cannot be applied. */
function unsuitable(object: ApiObject, scope: string): string[] {
  const resources = scopeResources(scope);
  const names = textEntriesAt(object, 'spec', 'hard').map(([name]) => name);
  return resources === undefined ? [] : names.filter((name) => isQuotaResource(name) && !resources.has(name));
}

export function validateScopes(object: ApiObject): FieldError[] {
  const scopes = textsAt(object, 'spec', 'scopes');
  const error = (detail: string) => invalidValue('spec.scopes', scopes, detail);
  return [
    ...scopes.flatMap((scope) => [
      ...(scopeResources(scope) === undefined ? [error('unsupported scope')] : []),
      ...unsuitable(object, scope).map(() => error('unsupported scope applied to resource')),
    ]),
    ...conflicts(scopes).map(() => error('conflicting scopes')),
  ];
}

const conflicts = (scopes: readonly string[]): readonly string[][] =>
  CONFLICTS.filter((pair) => pair.every((scope) => scopes.includes(scope)));

export function validateScopeSelector(object: ApiObject): FieldError[] {
  const field = 'spec.scopeSelector.matchExpressions';
  const selector = objectAt(object, 'spec', 'scopeSelector');
  const expressions = objectsAt(selector, 'matchExpressions');
  const scopes = expressions.map((expression) => textAt(expression, 'scopeName'));
  return [
    ...expressions.flatMap((expression) => [
      ...validateScope(object, textAt(expression, 'scopeName'), field),
      ...validateOperator(expression, field),
    ]),
    // upstream's error shows the other list of scopes, `spec.scopes`
    ...conflicts(scopes).map(() => invalidValue(field, valueAt(object, 'spec', 'scopes'), 'conflicting scopes')),
  ];
}

function validateScope(object: ApiObject, scope: string, field: string): FieldError[] {
  const isKnown = scopeResources(scope) !== undefined;
  const shown = internalSelector(objectAt(object, 'spec', 'scopeSelector'));
  return [
    ...(isKnown ? [] : [invalidValue(`${field}.scopeName`, scope, 'unsupported scope')]),
    ...unsuitable(object, scope).map(() => invalidValue(field, shown, 'unsupported scope applied to resource')),
  ];
}

const internalSelector = (selector: unknown) => ({
  MatchExpressions: objectsAt(selector, 'matchExpressions').map((expression) => ({
    ScopeName: textAt(expression, 'scopeName'),
    Operator: textAt(expression, 'operator'),
    Values: valueAt(expression, 'values') ?? null,
  })),
});

function validateOperator(expression: JsonObject, field: string): FieldError[] {
  const operator = textAt(expression, 'operator');
  const values = textsAt(expression, 'values');
  const mustExist = EXISTENCE_SCOPES.includes(textAt(expression, 'scopeName')) && operator !== 'Exists';
  const errors = mustExist ? [invalidValue(`${field}.operator`, operator, EXISTENCE_WORDS)] : [];
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    return values.length > 0 ? errors : [...errors, required(`${field}.values`, detail)];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    return values.length === 0 ? errors : [...errors, invalidValue(`${field}.values`, values, detail)];
  }
  return [...errors, invalidValue(`${field}.operator`, operator, 'not a valid selector operator')];
}
