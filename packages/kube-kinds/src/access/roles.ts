import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { hasInvalidSelectorValues, validateLabelSelector } from '../labels.ts';
import type { Strategy } from '../strategy.ts';
import { pathSegmentProblems } from '../texts.ts';
import { type JsonObject, listAt, objectAt, objectsAt } from '../values.ts';

const validateRules = (object: ApiObject, isNamespaced: boolean): FieldError[] =>
  objectsAt(object, 'rules').flatMap((rule, index) => validateRule(`rules[${index}]`, rule, isNamespaced));

function validateRule(field: string, rule: JsonObject, isNamespaced: boolean): FieldError[] {
  const isEmpty = (name: string) => listAt(rule, name).length === 0;
  const missing = (name: string, detail: string) => (isEmpty(name) ? [required(`${field}.${name}`, detail)] : []);
  const verbs = missing('verbs', 'verbs must contain at least one value');
  if (!isEmpty('nonResourceURLs')) return [...verbs, ...validateUrls(`${field}.nonResourceURLs`, rule, isNamespaced)];
  return [
    ...verbs,
    ...missing('apiGroups', 'resource rules must supply at least one api group'),
    ...missing('resources', 'resource rules must supply at least one resource'),
  ];
}

function validateUrls(field: string, rule: JsonObject, isNamespaced: boolean): FieldError[] {
  const urls = listAt(rule, 'nonResourceURLs');
  const isBoth = ['apiGroups', 'resources', 'resourceNames'].some((name) => listAt(rule, name).length > 0);
  const namespaced = 'namespaced rules cannot apply to non-resource URLs';
  const both = 'rules cannot apply to both regular resources and non-resource URLs';
  return [
    ...(isNamespaced ? [invalidValue(field, urls, namespaced)] : []),
    ...(isBoth ? [invalidValue(field, urls, both)] : []),
  ];
}

/** Validates the aggregation rule. If a selector cannot be parsed, the error shows the parser's empty result, as in upstream. */
function validateAggregation(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  if (objectAt(object, 'aggregationRule') === undefined) return [];
  const selectors = selectorsOf(object);
  const field = 'aggregationRule.clusterRoleSelectors';
  const allowInvalidValues = old !== undefined && selectorsOf(old).some(hasInvalidSelectorValues);
  const none = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  if (selectors.length === 0) return [required(field, none)];
  return selectors.flatMap((selector, index) => {
    const at = `${field}[${index}]`;
    const isParsed = validateLabelSelector(at, selector).length === 0;
    const errors = validateLabelSelector(at, selector, { allowInvalidValues });
    return isParsed ? errors : [...errors, invalidValue(at, null, 'invalid label selector.')];
  });
}

const selectorsOf = (object: ApiObject): readonly JsonObject[] =>
  objectsAt(object, 'aggregationRule', 'clusterRoleSelectors');

const validateRole = (object: ApiObject): FieldError[] => validateRules(object, true);

const validateClusterRole = (object: ApiObject, old?: ApiObject): FieldError[] => [
  ...validateRules(object, false),
  ...validateAggregation(object, old),
];

export const ROLE: Strategy = {
  validate: validateRole,
  validateUpdate: validateRole,
  nameProblems: pathSegmentProblems,
  allowCreateOnUpdate: true,
};

export const CLUSTER_ROLE: Strategy = {
  validate: (object) => validateClusterRole(object),
  validateUpdate: validateClusterRole,
  nameProblems: pathSegmentProblems,
  allowCreateOnUpdate: true,
};
