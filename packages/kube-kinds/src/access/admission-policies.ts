import type { ApiObject } from '../api-object.ts';
import { validateConditions } from '../conditions.ts';
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { statusWith } from '../status-update.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, type JsonObject, listAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { validateMatchConditions } from './match-conditions.ts';
import {
  validateMatchResources,
  validateMutatingOperations,
  validateParamKind,
  withMatchDefaults,
} from './match-resources.ts';
import {
  validateAuditAnnotations,
  validateMutations,
  validateValidations,
  validateVariables,
} from './policy-expressions.ts';
import { staticNameWarnings } from './static-names.ts';

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];

function applyDefaults(object: ApiObject): ApiObject {
  const spec = objectAt(object, 'spec') ?? {};
  const constraints = objectAt(spec, 'matchConstraints');
  const matched = constraints === undefined ? {} : { matchConstraints: withMatchDefaults(constraints) };
  return { ...object, spec: { ...spec, failurePolicy: spec.failurePolicy ?? 'Fail', ...matched } };
}

const specOf = (object: ApiObject): JsonObject => objectAt(object, 'spec') ?? {};

/**
 * Validates failure policy, `paramKind`, match constraints, match conditions and variables. Match conditions are not revalidated if neither
 * they nor the `paramKind` have changed.
 */
function validateMatching(field: string, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = specOf(object);
  const policy = textAt(spec, 'failurePolicy');
  const wrongPolicy = notSupported(`${field}.failurePolicy`, policy, FAILURE_POLICIES);
  const isUnchanged =
    old !== undefined && ['paramKind', 'matchConditions'].every((name) => isSameValue(spec[name], specOf(old)[name]));
  const conditions = objectsAt(spec, 'matchConditions');
  return [
    ...(policy === '' ? [required(`${field}.failurePolicy`)] : []),
    ...(policy === '' || FAILURE_POLICIES.includes(policy) ? [] : [wrongPolicy]),
    ...validateParamKind(`${field}.paramKind`, spec.paramKind),
    ...validateConstraints(`${field}.matchConstraints`, objectAt(spec, 'matchConstraints')),
    ...(isUnchanged ? [] : validateMatchConditions(`${field}.matchConditions`, conditions)),
    ...validateVariables(`${field}.variables`, spec),
  ];
}

function validateConstraints(field: string, constraints: JsonObject | undefined): FieldError[] {
  if (constraints === undefined) return [required(field)];
  const hasRules = listAt(constraints, 'resourceRules').length > 0;
  return [...validateMatchResources(field, constraints), ...(hasRules ? [] : [required(`${field}.resourceRules`)])];
}

function validateValidating(object: ApiObject, old?: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors = validateMatching('spec', object, old);
  const isEmpty = ['validations', 'auditAnnotations'].every((name) => listAt(spec, name).length === 0);
  const none = 'validations or auditAnnotations must contain at least one item';
  if (isEmpty) return [...errors, required('spec.validations', none), required('spec.auditAnnotations', none)];
  return [
    ...errors,
    ...validateValidations('spec.validations', spec),
    ...validateAuditAnnotations('spec.auditAnnotations', spec, object.metadata.name ?? ''),
  ];
}

function validateMutating(object: ApiObject, old?: ApiObject): FieldError[] {
  const spec = specOf(object);
  const policy = textAt(spec, 'reinvocationPolicy');
  const field = 'spec.reinvocationPolicy';
  const isKnown = REINVOCATION_POLICIES.includes(policy);
  return [
    ...validateMatching('spec', object, old),
    ...validateMutatingOperations('spec.matchConstraints', objectAt(spec, 'matchConstraints')),
    ...validateMutations('spec.mutations', spec),
    ...(policy === '' ? [required(field)] : []),
    ...(policy === '' || isKnown ? [] : [notSupported(field, policy, REINVOCATION_POLICIES)]),
  ];
}

function validateStatus(object: ApiObject): FieldError[] {
  const field = 'status.typeChecking.expressionWarnings';
  const found = objectsAt(object, 'status', 'typeChecking', 'expressionWarnings');
  return [
    ...found.flatMap((warning, index) => [
      ...(textAt(warning, 'warning') === '' ? [required(`${field}[${index}].warning`)] : []),
      ...validateFieldRef(`${field}[${index}].fieldRef`, textAt(warning, 'fieldRef').trim()),
    ]),
    ...validateConditions('status.conditions', valueAt(object, 'status', 'conditions')),
  ];
}

/** Validates a JSONPath field reference. Only checks its brackets. */
function validateFieldRef(field: string, path: string): FieldError[] {
  if (path === '') return [required(field)];
  const isOpen = path.split('[').length !== path.split(']').length;
  return isOpen ? [invalidValue(field, path, 'invalid JSONPath: unterminated array')] : [];
}

const COMMON: Strategy = {
  applyDefaults,
  warnings: staticNameWarnings,
  allowUnconditionalUpdate: false,
  hasGeneration: true,
};

export const VALIDATING_ADMISSION_POLICY: Strategy = {
  ...COMMON,
  validate: (object) => validateValidating(object),
  validateUpdate: validateValidating,
  subresources: { status: statusWith(validateStatus) },
};

export const MUTATING_ADMISSION_POLICY: Strategy = {
  ...COMMON,
  validate: (object) => validateMutating(object),
  validateUpdate: validateMutating,
};
